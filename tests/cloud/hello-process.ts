// Inside a host: a cell that follows it until its first message, and prints that.
import { connectHost } from '@skerry/host-api'
import type { HostId } from '@skerry/vm'

import { readIdentity } from '../../apps/cloud/src/identity/issuers.ts'

const [directory = '', hostId = ''] = process.argv.slice(2)
const { cell, trusted } = await readIdentity(directory)
using host = connectHost({
  address: '127.0.0.1',
  port: 8443,
  hostId: hostId as HostId,
  tls: { ...cell, ca: trusted.hosts },
})
const ended = new AbortController()
for await (const line of host.follow('1', ended.signal)) {
  console.log(JSON.stringify(line))
  break
}
ended.abort()
