"""The pytest plugin: scenario files as test items, counterexamples as failures."""
