module roadstead.dev/tools/lines

go 1.26.0
