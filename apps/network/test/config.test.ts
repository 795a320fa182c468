import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { readConfig } from '../src/config.ts'

test('a protected network that is none is refused with the configuration', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'config-'))
  const file = join(directory.path, 'network.json')
  const read = async (...blocks: readonly string[]) => {
    const config = {
      name: 'network-1',
      listen: { address: '127.0.0.1', port: 6642 },
      database: 'postgres://network@db.example/cloud',
      data: '/var/lib/skerry-network',
      tls: { key: 'key', certificate: 'certificate', ca: 'ca' },
      protected: blocks,
    }
    await writeFile(file, JSON.stringify(config))
    return readConfig(file)
  }
  assert.deepEqual((await read('192.0.2.0/24', '198.51.100.7')).protected?.length, 2)
  for (const wrong of ['192.0.2.0/33', '192.0.2', '2001:db8::/32', '']) {
    await assert.rejects(read('192.0.2.0/24', wrong), /network\.json: a network in "protected"/)
  }
})
