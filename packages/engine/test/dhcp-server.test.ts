// Goal: the address of a deleted VM can be given to the next one. Method: a real dnsmasq in its own network namespace.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { test } from 'node:test'

import { reasonWithoutRoot, until } from '@skerry/lab'

import type { Host } from '../src/host/host.ts'
import { defaultPaths } from '../src/host/paths.ts'
import { rereadEntries } from '../src/network/dhcp-server.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const skip = reasonWithoutRoot('host') ?? false

test('the DHCP server drops removed entries on a signal, and only then', { skip }, async () => {
  await using directory = await temporaryDirectory()
  const entries = directory.at('entries')
  await mkdir(entries)
  await mkdir(directory.at('network'))
  // dnsmasq runs as another user.
  for (const each of [directory.at('.'), entries]) await chmod(each, 0o755)
  const entry = async (name: string, mac: string, address: string) => {
    await writeFile(`${entries}/.${name}`, `${mac},${address}\n`)
    await rename(`${entries}/.${name}`, `${entries}/${name}`)
  }
  await entry('a', '52:00:00:00:00:01', '10.84.0.40')
  await entry('b', '52:00:00:00:00:02', '10.84.0.41')
  const words = [
    '--conf-file=/dev/null',
    '--port=0',
    '--interface=lo',
    '--log-facility=-',
    '--dhcp-range=10.84.0.2,10.84.0.31',
    `--dhcp-hostsdir=${entries}`,
    '--keep-in-foreground',
    `--pid-file=${directory.at('network/n.pid')}`,
    `--dhcp-leasefile=${directory.at('leases')}`,
  ]
  const server = spawn('unshare', ['--net', 'dnsmasq', ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => {
    const closed = once(server, 'close')
    server.kill('SIGTERM')
    await closed
  })
  let log = ''
  server.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const says = (words: string) => until(`dnsmasq says ${words}`, () => log.includes(words))
  await says(`read ${entries}/b`)

  await rm(`${entries}/a`)
  await entry('c', '52:00:00:00:00:03', '10.84.0.40')
  await says(`duplicate dhcp-host IP address 10.84.0.40 at line 1 of ${entries}/c`)

  const notes: string[] = []
  const paths = { ...defaultPaths, qemuPids: directory.at('qemu') }
  const host = { paths, log: (message: string) => notes.push(message) } as unknown as Host
  await rm(`${entries}/b`)
  log = ''
  await rereadEntries(host, 'n')
  await says(`read ${entries}/c`)
  await entry('d', '52:00:00:00:00:04', '10.84.0.41')
  await says(`read ${entries}/d`)
  assert.doesNotMatch(log, /duplicate/)

  await rereadEntries(host, 'none')
  assert.deepEqual(notes, [])
})
