// Goal: a listener hears notifications, also after it lost its connection. Method: a real PostgreSQL that ends the connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonToSkip, startPostgres, until } from '@skerry/lab'

import { listenTo } from '../src/index.ts'

const skip = reasonToSkip('cloud') ?? false

test(
  'a notification is heard, and after a lost connection the caller is asked to look again',
  { skip },
  async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'listen-'))
    await using postgres = await startPostgres(directory.path, { durable: false })
    const stop = new AbortController()
    let heard = 0
    const listening = listenTo(
      {
        url: postgres.urlOf('postgres'),
        applicationName: 'listener',
        channel: 'Changes',
        notified: () => (heard += 1),
        pause: async (ms, signal) => {
          await sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined)
        },
      },
      stop.signal,
    )
    const hears = (count: number) => until(`${count} calls`, () => heard >= count, 60_000)
    await hears(1)
    await postgres.psql(`notify "Changes"`)
    await hears(2)
    await postgres.psql(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener'`,
    )
    await hears(3)
    await postgres.psql(`notify "Changes"; notify other`)
    await hears(4)
    stop.abort()
    await listening
    assert.equal(heard, 4)
  },
)

test('a server that accepts and says nothing does not delay the stop', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const stop = new AbortController()
  const connected = once(silent, 'connection')
  const listening = listenTo(
    {
      url: `postgres://someone@127.0.0.1:${port}/any`,
      applicationName: 'listener',
      channel: 'Changes',
      notified: () => assert.fail('nothing was sent'),
      pause: async (ms, signal) => {
        await sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined)
      },
    },
    stop.signal,
  )
  await connected
  stop.abort()
  await listening
  for (const socket of sockets) socket.destroy()
  silent.close()
})
