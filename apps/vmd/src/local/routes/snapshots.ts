import * as engine from '@skerry/engine'
import { Type } from '@skerry/schema'
import { json } from '@skerry/service'

import { route } from '../route.ts'
import { powerWord, successAnswer, SuccessBody } from '../words.ts'

const NewSnapshot = Type.Object({
  name: Type.String(),
  memory: Type.Optional(Type.Boolean()),
})

const SnapshotBody = Type.Object({
  name: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
  memory: Type.Boolean(),
  current: Type.Boolean(),
})

/** The memory of a large guest takes long to write and to read. */
const operation = (params: unknown) => ({ vm: (params as { readonly id: string }).id })

export const snapshots = [
  route({
    name: 'createSnapshot',
    method: 'POST',
    path: '/api/vms/:id/snapshots',
    permission: 'local',
    changes: ['snapshots'],
    operation,
    takes: json(NewSnapshot),
    answers: { 201: SnapshotBody },
    doc: 'Takes a snapshot of the VM; for a running guest including its memory, unless memory is false.',
    async handle({ host }, { params, body: { name, memory } }) {
      const requested = { name, ...(memory !== undefined && { memory }) }
      const snapshot = await engine.createSnapshot(host, params.id, requested)
      const location = `/api/vms/${params.id}/snapshots/${name}`
      return { status: 201, headers: { location }, body: snapshot }
    },
  }),
  route({
    name: 'listSnapshots',
    method: 'GET',
    path: '/api/vms/:id/snapshots',
    permission: 'local',
    answers: { 200: Type.Array(SnapshotBody) },
    doc: 'All snapshots, the oldest first.',
    async handle({ host }, { params }) {
      return { status: 200, body: await engine.listSnapshots(host, params.id) }
    },
  }),
  route({
    name: 'readSnapshot',
    method: 'GET',
    path: '/api/vms/:id/snapshots/:name',
    permission: 'local',
    answers: { 200: SnapshotBody },
    doc: 'One snapshot.',
    async handle({ host }, { params }) {
      return { status: 200, body: await engine.readSnapshot(host, params.id, params.name) }
    },
  }),
  route({
    name: 'removeSnapshot',
    method: 'DELETE',
    path: '/api/vms/:id/snapshots/:name',
    permission: 'local',
    changes: ['snapshots'],
    operation,
    answers: { 204: 'nothing' },
    doc: 'Deletes a snapshot; the VM stays as it is.',
    async handle({ host }, { params }) {
      await engine.removeSnapshot(host, params.id, params.name)
      return { status: 204 }
    },
  }),
  route({
    name: 'revertSnapshot',
    method: 'POST',
    path: '/api/vms/:id/snapshots/:name/revert',
    permission: 'local',
    changes: ['vms', 'snapshots'],
    operation,
    answers: { 200: SuccessBody },
    doc: 'Reverts the VM to a snapshot; the answer is its new power state.',
    async handle({ host }, { params }) {
      await engine.revertSnapshot(host, params.id, params.name)
      return successAnswer(powerWord[await engine.readPower(host, params.id)])
    },
  }),
]
