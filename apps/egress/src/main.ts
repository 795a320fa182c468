process.stderr.write('egress: not yet\n')
process.exitCode = 1
