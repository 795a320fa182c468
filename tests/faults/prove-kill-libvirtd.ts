// npm run prove:kill-libvirtd [-- --seed N]: libvirtd is killed 50 times over 10 guests that are worked on.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { runStorm } from './storm.ts'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '11' } } })

const figures = await runStorm({
  seed: Number(values.seed),
  kills: 50,
  guests: 10,
  kill: async ({ host }, chance) => {
    await host.killLibvirt()
    await sleep(chance.between(0, 1500))
    await host.startLibvirt()
  },
  say: console.error,
})
console.log(JSON.stringify(figures))
