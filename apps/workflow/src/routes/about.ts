import { at, Hrefs } from '../addresses.ts'
import { aboutDocument, servicesDocument } from '../documents/about.ts'
import { thing } from '../documents/document.ts'
import { route } from '../route.ts'

const VERSION = '0.1.0'

export const about = [
  route({
    name: 'listServices',
    method: 'GET',
    path: at.services,
    permission: 'workflow:read',
    answers: { 200: 'services' },
    doc: 'What there is below this address.',
    async handle({ base }) {
      return { status: 200, body: servicesDocument(new Hrefs(base)) }
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
    doc: 'Whether requests are answered here: for whoever stands before several servers. It tells nothing else.',
    async handle({ isReady }) {
      const ready = await isReady()
      const body = thing('health', { ready })
      return { status: ready ? 200 : 503, body }
    },
  }),
]
