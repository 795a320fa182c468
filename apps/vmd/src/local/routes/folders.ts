import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import { json, word } from '@skerry/service'
import { folderFlags } from '@skerry/vm'

import { UNKNOWN_UID } from '../access/gate.ts'
import { route } from '../route.ts'
import { FolderBody, successAnswer, SuccessBody } from '../words.ts'

const NewFolder = Type.Object({
  guestPath: Type.String(),
  hostPath: Type.String({ maxLength: 4096 }),
  flags: Type.Integer(),
})

/** The new mapping; the message explains why the guest does not see it yet. */
const NewFolderBody = Type.Object({
  ...FolderBody.properties,
  message: Type.Optional(Type.String()),
})
const SHARING_IS_OFF =
  'folder sharing is off: the guest sees this folder once sharing is enabled (PATCH …/folders with the body true)'

export const folders = [
  route({
    name: 'enableSharing',
    method: 'PATCH',
    path: '/api/vms/:id/folders',
    permission: 'local',
    changes: ['folders'],
    takes: word(['true']),
    answers: { 200: SuccessBody },
    doc: 'Turns folder sharing on, also while the guest runs; the body is the word true.',
    async handle({ host }, { params }) {
      await engine.enableSharing(host, params.id)
      return successAnswer('shared folders enabled')
    },
  }),
  route({
    name: 'addFolder',
    method: 'POST',
    path: '/api/vms/:id/folders',
    permission: 'local',
    changes: ['folders'],
    takes: json(NewFolder),
    answers: { 201: NewFolderBody },
    doc: 'Shares a directory of the host that the caller owns; flags 4 is read and write, 0 read-only. If folder sharing is off, the answer has a message about it.',
    async handle({ host }, { params, body, uid }) {
      if (uid === UNKNOWN_UID) {
        throw new Fault('forbidden', 'folders cannot be shared through the Unix socket', {
          hint: 'use 127.0.0.1 instead: there the caller, and thus the owner of the folder, can be identified',
        })
      }
      const flags = folderFlags.find((each) => each === body.flags)
      if (flags === undefined)
        throw new Fault('invalid', 'flags must be 4 (read and write) or 0 (read-only)')
      const { guestPath, hostPath } = body
      const folder = await engine.addFolder(host, params.id, { guestPath, hostPath, flags }, uid)
      const off = !engine.isSharing(host, params.id)
      return { status: 201, body: { ...folder, ...(off && { message: SHARING_IS_OFF }) } }
    },
  }),
  route({
    name: 'listFolders',
    method: 'GET',
    path: '/api/vms/:id/folders',
    permission: 'local',
    answers: { 200: Type.Array(Type.String()) },
    doc: 'The guest paths of all shared folders.',
    async handle({ host }, { params }) {
      const all = engine.listFolders(host, params.id)
      return { status: 200, body: all.map(({ guestPath }) => guestPath) }
    },
  }),
  route({
    name: 'readFolder',
    method: 'GET',
    path: '/api/vms/:id/folders/:guestPath',
    permission: 'local',
    answers: { 200: FolderBody },
    doc: 'One shared folder.',
    async handle({ host }, { params }) {
      return { status: 200, body: engine.readFolder(host, params.id, params.guestPath) }
    },
  }),
  route({
    name: 'removeFolder',
    method: 'DELETE',
    path: '/api/vms/:id/folders/:guestPath',
    permission: 'local',
    changes: ['folders'],
    answers: { 204: 'nothing' },
    doc: 'Removes a shared folder, also from a running guest.',
    async handle({ host }, { params }) {
      await engine.removeFolder(host, params.id, params.guestPath)
      return { status: 204 }
    },
  }),
]
