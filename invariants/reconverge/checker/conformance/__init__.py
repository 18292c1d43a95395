"""The model against recordings of a real control plane: is every recording a run of the model?"""
