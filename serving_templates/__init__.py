"""One YAML file an inference engine, data only; `gpuyard.components.serving.template` has the schema and the loader."""
