// The network server of a zone: projects the networks of organisations from PostgreSQL into OVN, which hosts read.
import { readOptions, runProgram } from '@skerry/service'

import { readConfig } from './config.ts'
import { serve } from './serve.ts'

const USAGE = `usage: skerry network-server [--config FILE]
run a network server of a cloud: project its networks into OVN for the hosts, until stopped
  --config FILE  configuration written by skerry admin network-server create (default: /etc/skerry/network.json)`

await runProgram(
  {
    name: 'skerry network-server',
    usage: USAGE,
    now: () => new Date(),
    async run(args, { log, pause, stopSignal }) {
      const words = readOptions(args, USAGE, {
        config: { type: 'string', default: '/etc/skerry/network.json' },
      })
      const clocks = { clock: { now: () => new Date() }, now: () => performance.now() }
      const config = await readConfig(words.config)
      await serve(config, { log, pause, stopped: stopSignal(), ...clocks })
    },
  },
  process.argv.slice(2),
)
