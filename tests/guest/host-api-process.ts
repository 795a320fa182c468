// A cell inside the host's own network: serves the image, orders a guest, reads its screen. Prints what it saw.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'

import { connectHost, type Goal } from '@skerry/host-api'
import type { HostId, Order, TaskId, VmId } from '@skerry/vm'

const [directory = '', imageFile = '', phase = ''] = process.argv.slice(2)
const read = (name: string) => readFile(`${directory}/${name}`, 'utf8')
const cell = { key: await read('cell.key'), cert: await read('cell.crt') }
const hosts = await read('hosts.crt')
const image = await readFile(imageFile)
const digest = createHash('sha256').update(image).digest('hex')
const machine = createServer({ ...cell, ca: hosts, requestCert: true }, (_, response) =>
  response.writeHead(200, { 'content-length': image.length }).end(image),
)
machine.listen(8444, '127.0.0.1')
await once(machine, 'listening')

const vm = '7b0f0dc1-0000-4000-8000-000000000001' as VmId
const host = connectHost({
  address: '127.0.0.1',
  port: 8443,
  tls: { ...cell, ca: hosts },
  hostId: 'h1' as HostId,
})
const step = (name: string, number: number, goal: Goal, more: Partial<Order> = {}) => {
  const task = (more.task ?? 'create') as TaskId
  const key = `${task}/${name}`
  return host.step({ vm, task, key, fencingToken: String(number), incarnation: '1', ...more }, goal)
}
const signal = new AbortController().signal
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function begin(): Promise<unknown> {
  const spec = { org: 'o', vApp: 'v', name: 'seen', cpus: 1, memoryMiB: 128, diskMiB: 256 }
  await step('image', 1, { goal: 'image', digest })
  await step('define', 1, { goal: 'defined', spec: { ...spec, image: digest } })
  const { vm: on } = await step('on', 1, { goal: 'power', to: 'on' })
  return { power: on?.power, boot: on?.boot }
}

async function look(): Promise<unknown> {
  const again = await step('on', 2, { goal: 'power', to: 'on' })
  const boot = again.vm?.boot ?? ''
  const ticket = randomBytes(32).toString('base64url')
  const wrong = await host.arm({ vm, boot: 'another', ticketHash: sha256(ticket) }).catch(String)
  await host.arm({ vm, boot, ticketHash: sha256(ticket) })
  const screen = await host.open(vm, ticket, signal)
  const greeting = String((await once(screen, 'data'))[0]).trim()
  const twice = await host.open(vm, ticket, signal).catch((error: Error) => error.message)
  const picture = await host.takeScreenshot(vm, boot)
  const seen = { kind: picture.subarray(1, 4).toString('latin1'), large: picture.length > 100 }
  const notSeen = await host.takeScreenshot(vm, 'another').catch(String)
  const reset = { goal: 'reset' } as const
  const { vm: afterReset } = await step('reset', 3, reset, { task: 'reset' as TaskId })
  const closed = once(screen, 'close')
  await step('off', 4, { goal: 'power', to: 'off' }, { task: 'off' as TaskId })
  await closed
  const { vm: left } = await step('gone', 5, { goal: 'gone' }, { task: 'del' as TaskId })
  return {
    boot,
    wrong,
    greeting,
    twice,
    seen,
    notSeen,
    bootAfterReset: afterReset?.boot,
    left: left ?? 'nothing',
  }
}

process.stdout.write(JSON.stringify(await (phase === 'begin' ? begin() : look())))
process.exit(0)
