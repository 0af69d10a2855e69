"""Link predictors: models, objectives and scorers on top of the training loop."""
