import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import { json } from '@skerry/service'

import { route } from '../route.ts'

const NewTemplate = Type.Object({
  name: Type.Optional(Type.String()),
  file: Type.String({ minLength: 1, maxLength: 4096 }),
  sha256: Type.Optional(Type.String({ pattern: '^[0-9A-Fa-f]{64}$' })),
})

const TemplateBody = Type.Object({
  name: Type.String(),
  digest: Type.String(),
  virtualBytes: Type.Integer(),
  fileBytes: Type.Integer(),
})

export const templates = [
  route({
    name: 'importTemplate',
    method: 'POST',
    path: '/api/templates',
    permission: 'local',
    changes: [],
    operation: () => ({}),
    query: Type.Object({ default: Type.Optional(Type.String()) }),
    takes: json(NewTemplate),
    answers: { 201: TemplateBody },
    doc: 'Imports a disk image, a qcow2 or raw file of this host that the caller owns. With ?default it becomes the default template of new VMs.',
    async handle({ host }, { query, body, uid, progress }) {
      const replace = query.default !== undefined
      const name = replace ? 'default' : body.name
      if (name === undefined)
        throw new Fault('invalid', 'name is required, or send the request to ?default')
      if (!body.file.startsWith('/')) throw new Fault('invalid', 'file must be an absolute path')
      const { sha256 } = body
      const options = {
        replace,
        uid,
        ...(sha256 !== undefined && { sha256 }),
        ...(progress && { progress }),
      }
      const template = await engine.importTemplate(host, name, body.file, options)
      return { status: 201, body: template }
    },
  }),
  route({
    name: 'listTemplates',
    method: 'GET',
    path: '/api/templates',
    permission: 'local',
    answers: { 200: Type.Array(TemplateBody) },
    doc: 'All templates of this host.',
    async handle({ host }) {
      return { status: 200, body: await engine.listTemplates(host) }
    },
  }),
  route({
    name: 'deleteTemplate',
    method: 'DELETE',
    path: '/api/templates/:name',
    permission: 'local',
    changes: [],
    answers: { 204: 'nothing' },
    doc: 'Deletes a template. VMs created from it keep their disks.',
    async handle({ host }, { params }) {
      await engine.deleteTemplate(host, params.name)
      return { status: 204 }
    },
  }),
]
