// node window-main.ts inner|outer DIRECTORY PORT...: one side of a window, as a process of the network that it is on.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { startBalancer } from './balancer.ts'
import { paneOf } from './window.ts'

const [side, directory = '', ...ports] = process.argv.slice(2)
for (const port of ports.map(Number)) {
  const path = paneOf(directory, port)
  if (side === 'inner') {
    rmSync(path, { force: true })
    await startBalancer({ path, targets: [{ host: '127.0.0.1', port }] })
  } else {
    await startBalancer({ port, targets: [{ path }] })
  }
}
if (side === 'inner') writeFileSync(join(directory, 'open'), '')
