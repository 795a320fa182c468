process.stderr.write('console: not yet\n')
process.exitCode = 1
