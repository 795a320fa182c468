import { Type } from '@skerry/schema'

import { route } from '../route.ts'
import { OperationBody, operationBody } from '../words-of-operations.ts'

export const operations = [
  route({
    name: 'listOperations',
    method: 'GET',
    path: '/api/operations',
    permission: 'local',
    answers: { 200: Type.Array(OperationBody) },
    doc: 'Running and recently finished operations, the newest last.',
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
    doc: 'One operation: its progress, or its outcome.',
    async handle({ operations }, { params }) {
      return { status: 200, body: operationBody(operations.find(params.id)) }
    },
  }),
]
