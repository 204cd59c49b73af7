module gpuyard.io/tools/sarif

go 1.26.0

require github.com/securego/gosec/v2 v2.30.0
