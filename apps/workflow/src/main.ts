process.stderr.write('workflow: not yet\n')
process.exitCode = 1
