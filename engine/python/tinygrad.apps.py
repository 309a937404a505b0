# Programs: tinygrad.apps.llm runs language models.
