import { Type } from 'typebox'

import { route } from '../route.ts'
import { OperationBody, operationBody } from '../words-of-operations.ts'

export const operations = [
  route({
    name: 'listOperations',
    method: 'GET',
    path: '/api/operations',
    permission: 'local',
    answers: { 200: Type.Array(OperationBody) },
    doc: 'Operations that run, and the last that have ended; the newest last.',
    async handle({ operations }) {
      return { status: 200, body: operations.all().map(operationBody) }
    },
  }),
  route({
    name: 'readOperation',
    method: 'GET',
    path: '/api/operations/:id',
    permission: 'local',
    answers: { 200: OperationBody },
    doc: 'One operation: how far it is, or how it ended.',
    async handle({ operations }, { params }) {
      return { status: 200, body: operationBody(operations.find(params.id)) }
    },
  }),
]
