"""The command `reconverge`."""
