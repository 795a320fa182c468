import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import { json } from '@skerry/service'
import { usageWindowOf } from '@skerry/vm'

import { route } from '../route.ts'

/** The longest that a browser or a proxy would wait for an answer. */
const EXEC_MS_MAX = 600_000
const SERIAL_BYTES_MAX = 1024 * 1024

const Program = Type.Object({
  path: Type.String({ minLength: 1 }),
  args: Type.Optional(Type.Array(Type.String())),
  input: Type.Optional(Type.String()),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: EXEC_MS_MAX })),
})

const OutcomeBody = Type.Object({
  exitCode: Type.Integer(),
  stdout: Type.String(),
  stderr: Type.String(),
})

const StatsBody = Type.Object({
  cpuNanoseconds: Type.Number(),
  memoryBytes: Type.Number(),
  disk: Type.Object({
    readBytes: Type.Number(),
    writtenBytes: Type.Number(),
    allocatedBytes: Type.Number(),
  }),
  network: Type.Object({ receivedBytes: Type.Number(), sentBytes: Type.Number() }),
})

const Values = Type.Array(Type.Union([Type.Integer(), Type.Null()]))
const UsageBody = Type.Object({
  step: Type.Integer(),
  until: Type.String(),
  cpuPercent: Values,
  memoryMB: Values,
  diskRead: Values,
  diskWrite: Values,
  netIn: Values,
  netOut: Values,
})

export const guest = [
  route({
    name: 'execInGuest',
    method: 'POST',
    path: '/api/vms/:id/exec',
    permission: 'local',
    changes: [],
    takes: json(Program),
    answers: { 200: OutcomeBody },
    doc: 'Runs a program in the guest through its agent, and waits until it exits.',
    async handle({ host }, { params, body: { path, args, input, timeoutMs } }) {
      const outcome = await engine.execInGuest(host, params.id, {
        path,
        ...(args !== undefined && { args }),
        ...(input !== undefined && { input }),
        ...(timeoutMs !== undefined && { timeoutMs }),
      })
      return { status: 200, body: outcome }
    },
  }),
  route({
    name: 'readSerialLog',
    method: 'GET',
    path: '/api/vms/:id/serial',
    permission: 'local',
    query: Type.Object({ bytes: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,6}$' })) }),
    answers: { 200: 'text/plain' },
    doc: 'The end of the guest’s serial port output: the last `bytes` (default: 64 KiB, at most 1 MiB).',
    async handle({ host }, { params, query: { bytes } }) {
      const most = bytes === undefined ? [] : [Math.min(Number(bytes), SERIAL_BYTES_MAX)]
      return {
        status: 200,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
        },
        body: await engine.readSerialLog(host, params.id, ...most),
      }
    },
  }),
  route({
    name: 'readStats',
    method: 'GET',
    path: '/api/vms/:id/stats',
    permission: 'local',
    answers: { 200: StatsBody },
    doc: 'The resources that the VM has used since it was powered on; zero while it is off.',
    async handle({ host }, { params }) {
      const { cpuNanoseconds, memoryBytes, disk, network } = await engine.readStats(host, params.id)
      const body = { cpuNanoseconds, memoryBytes, disk, network }
      return { status: 200, body: asNumbers(body) }
    },
  }),
  route({
    name: 'readUsage',
    method: 'GET',
    path: '/api/vms/:id/usage',
    permission: 'local',
    query: Type.Object({
      step: Type.Optional(Type.String()),
      points: Type.Optional(Type.String()),
    }),
    answers: { 200: UsageBody },
    doc: 'What the VM used in the last hour, the oldest value first: percent of all its CPUs, MiB of memory, and bytes a second of disk and network. A value is the mean of `step` seconds (default: 15, how often vmd measures; or a multiple of it), and `until` is the time of the last of `points` values (default: an hour). `null` is a gap: before the VM was powered on, or while vmd did not run. The lists are empty while the VM is not running.',
    async handle({ host }, { params, query: { step, points } }) {
      const window = usageWindowOf(step, points)
      if (typeof window === 'string') throw new Fault('invalid', window)
      return { status: 200, body: await engine.readUsage(host, params.id, window) }
    },
  }),
]

/** JSON numbers are exact only up to 2^53; a counter beyond it loses its last digits only. */
function asNumbers(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, each]: [string, bigint | object]) => [
      name,
      typeof each === 'bigint' ? Number(each) : asNumbers(each),
    ]),
  )
}
