// node window-main.ts inner|outer DIRECTORY ADDRESS:PORT...: one side of a window, as a process in its network.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { startBalancer } from './balancer.ts'
import { paneOf } from './window.ts'

const [side, directory = '', ...places] = process.argv.slice(2)
for (const place of places) {
  const [address = '', number] = place.split(':')
  const port = Number(number)
  const path = paneOf(directory, address, port)
  if (side === 'inner') {
    rmSync(path, { force: true })
    await startBalancer({ path, targets: [{ host: address, port }] })
  } else {
    await startBalancer({ address, port, targets: [{ path }] })
  }
}
if (side === 'inner') writeFileSync(join(directory, 'open'), '')
