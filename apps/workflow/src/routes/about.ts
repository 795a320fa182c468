import { aboutDocument, servicesDocument } from '../documents/about.ts'
import { at, WorkflowHrefs } from '../documents/addresses.ts'
import { resource } from '../documents/document.ts'
import { route } from '../http/route.ts'

const VERSION = '0.1.0'

export const about = [
  route({
    name: 'listServices',
    method: 'GET',
    path: at.services,
    permission: 'workflow:read',
    answers: { 200: 'services' },
    doc: 'Lists the services of this API.',
    async handle({ base }) {
      return { status: 200, body: servicesDocument(new WorkflowHrefs(base)) }
    },
  }),
  route({
    name: 'readAbout',
    method: 'GET',
    path: at.about,
    permission: 'workflow:read',
    answers: { 200: 'about' },
    doc: 'The version of this server, and the release of the API whose clients it serves.',
    async handle() {
      return { status: 200, body: aboutDocument(VERSION) }
    },
  }),
  route({
    name: 'readHealth',
    method: 'GET',
    path: at.health,
    permission: 'anyone',
    answers: { 200: 'health', 503: 'health' },
    doc: 'Whether this server accepts requests, for load balancers. It returns nothing else.',
    async handle({ isReady }) {
      const ready = await isReady()
      const body = resource('health', { ready })
      return { status: ready ? 200 : 503, body }
    },
  }),
]
