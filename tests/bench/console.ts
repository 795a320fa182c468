import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'

import { requirePrograms } from '@skerry/lab'
import { issueCertificate, makeIssuer, makeKey, publicKeyOf, spanFrom } from '@skerry/service'

import { compare, type Aim, type Figure } from './figure.ts'
import { openViewer, type RawViewer } from './raw-viewer.ts'
import { startProcess } from './side-process.ts'
import { startWebsockifyProcess } from './websockify-process.ts'

const MIB = 1024 * 1024
const STREAM_BYTES = 128 * MIB
const CONSOLES = 100
const WARM_UP = 5
const ECHOES = 400
const SETTLE_MS = 1000
/** Memory varies less than time: a few samples are enough, and each opens many consoles. */
const MEMORY_PAIRS = 3
const DAY_MS = 86_400_000

/** Two TLS hops of ours against websockify's one. */
const streamed: Aim = { name: 'one screen, bytes to the viewer', unit: 'MiB/s', atLeast: 0.7 }
const idle: Aim = { name: 'memory of a console, idle', unit: 'KiB', atMost: 0.05 }
const loaded: Aim = {
  name: 'memory of a console, 250 Mbit/s over a hundred',
  unit: 'KiB',
  atMost: 0.1,
}
const echoed: Aim = {
  name: 'a key and its echo, 99th of 100',
  unit: 'ms',
  atMost: 1.5,
  orMoreBy: 1,
}

type Measure = (side: Side, ca: string) => Promise<number>

interface Side {
  readonly port: number
  readonly pid: number
}

/** Our relay against websockify, each with a certificate, in front of the same data source. */
export async function benchConsole(pairs: number): Promise<Figure[]> {
  requirePrograms('bench')
  const tls = await makeTls()
  await using source = await startProcess('display-source.ts', [JSON.stringify(tls)])
  const { plain, secure } = JSON.parse(source.line) as { plain: number; secure: number }
  const words = JSON.stringify({ ...tls, target: secure })
  const startOurs = async (): Promise<Side & AsyncDisposable> => {
    const relay = await startProcess('console-relay.ts', [words])
    return { ...relay, port: Number(relay.line) }
  }
  const startOther = (): Promise<Side & AsyncDisposable> => startWebsockifyProcess(tls, plain)
  await using ours = await startOurs()
  await using other = await startOther()
  const timed = (aim: Aim, measure: Measure): Promise<Figure> =>
    compare(
      aim,
      pairs,
      () => measure(ours, tls.cert),
      () => measure(other, tls.cert),
    )
  // Each in a fresh process: leftovers of an earlier run would hide the memory of a console.
  const weighed = (aim: Aim, word: string): Promise<Figure> => {
    const fresh = (start: typeof startOurs) => async (): Promise<number> => {
      await using side = await start()
      return await weigh(side, tls.cert, word)
    }
    return compare(aim, Math.min(pairs, MEMORY_PAIRS), fresh(startOurs), fresh(startOther))
  }
  return [
    await timed(streamed, streamOnce),
    await timed(echoed, echoMany),
    await weighed(idle, 'idle'),
    await weighed(loaded, 'trickle'),
  ]
}

interface Tls {
  readonly key: string
  readonly cert: string
}

async function makeTls(): Promise<Tls> {
  const span = spanFrom(new Date(), DAY_MS)
  const issuer = await makeIssuer({ key: await makeKey(), subject: 'bench', serial: '01', ...span })
  const key = await makeKey()
  const cert = await issueCertificate(issuer, {
    publicKey: publicKeyOf(key),
    subject: 'bench',
    serial: '02',
    hosts: ['127.0.0.1'],
    ...span,
  })
  return { key, cert: `${cert}\n${issuer.cert}` }
}

async function streamOnce({ port }: Side, ca: string): Promise<number> {
  using viewer = await openViewer(port, ca)
  const done = Promise.withResolvers<void>()
  let bytes = 0
  viewer.socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes >= STREAM_BYTES) done.resolve()
  })
  viewer.socket.once('close', () => done.reject(new Error('a stream broke off')))
  const start = performance.now()
  viewer.say(`stream ${STREAM_BYTES}\n`)
  await done.promise
  return STREAM_BYTES / MIB / ((performance.now() - start) / 1000)
}

async function echoMany({ port }: Side, ca: string): Promise<number> {
  using viewer = await openViewer(port, ca)
  viewer.say('echo\n')
  const times: number[] = []
  for (let at = 0; at < ECHOES; at += 1) {
    const start = performance.now()
    viewer.say('12345678')
    await once(viewer.socket, 'data')
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)[Math.floor(ECHOES * 0.99)] ?? 0
}

/** The memory that many concurrent consoles add to a process and its children, per console. */
async function weigh({ port, pid }: Side, ca: string, word: string): Promise<number> {
  const viewers: RawViewer[] = []
  try {
    for (let at = 0; at < WARM_UP; at += 1) viewers.push(await openViewer(port, ca))
    const before = await settledMemory(pid)
    for (let at = 0; at < CONSOLES; at += 1) viewers.push(await openViewer(port, ca))
    for (const viewer of viewers) {
      viewer.socket.resume()
      viewer.say(`${word}\n`)
    }
    return Math.max(0, (await settledMemory(pid)) - before) / CONSOLES
  } finally {
    for (const viewer of viewers) viewer[Symbol.dispose]()
  }
}

/** After a while, in KiB: the memory of a process and its children, shared pages counted once. */
async function settledMemory(pid: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  return processesOf(pid)
    .map((each) =>
      Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${each}/smaps_rollup`, 'utf8'))?.[1]),
    )
    .reduce((sum, each) => sum + each, 0)
}

function processesOf(pid: number): number[] {
  const children = globSync(`/proc/${pid}/task/*/children`).flatMap((file) =>
    readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children]
}
