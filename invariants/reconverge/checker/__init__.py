"""Drives the model through sequences of events and judges every state by the invariants."""
