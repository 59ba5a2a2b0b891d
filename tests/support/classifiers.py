"""The training of a small classifier of the generators' programs, for tests here and in the lab."""

from tests.rooms import NetworkTraining, TrainingConfig, program_encoder, program_head

SMALL = NetworkTraining(
    encoder=program_encoder(hidden=8, buckets=64),
    head=program_head(dense=16),
    min_steps=1,
    loop=TrainingConfig(epochs=10, batch_size=8, learning_rate=5e-3),
)
