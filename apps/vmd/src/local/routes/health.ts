import { metricsType } from '@skerry/service'
import { Type } from 'typebox'

import { route, type Local } from '../route.ts'

const Health = Type.Object({
  status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
  libvirt: Type.Union([Type.Literal('up'), Type.Literal('down')]),
  journal: Type.Union([Type.Literal('up'), Type.Literal('down')]),
  reasons: Type.Array(Type.String()),
})

export const health = [
  route({
    name: 'readHealth',
    method: 'GET',
    path: '/api/health',
    permission: 'local',
    answers: { 200: Health },
    doc: 'Whether all that vmd stands on is there; 200 also while it is degraded, with the reasons.',
    async handle(local) {
      const reasons = whatIsWrong(local)
      const word = (good: boolean) => (good ? 'up' : 'down')
      const body = {
        status: reasons.length === 0 ? 'ok' : 'degraded',
        libvirt: word(local.host.link.isOpen),
        journal: word(local.journal.failure === undefined),
        reasons,
      }
      return { status: 200, body }
    },
  }),
  route({
    name: 'readMetrics',
    method: 'GET',
    path: '/metrics',
    permission: 'local',
    answers: { 200: 'text/plain' },
    doc: 'What vmd counts of itself, as Prometheus reads it.',
    async handle({ meter }) {
      return { status: 200, headers: { 'content-type': metricsType }, body: meter.text() }
    },
  }),
]

function whatIsWrong({ host, journal }: Local): string[] {
  return [
    ...(host.link.isOpen ? [] : ['libvirt does not answer: see that libvirtd runs']),
    ...(journal.failure === undefined
      ? []
      : [`events cannot be written down: see that there is room in ${host.paths.data}`]),
  ]
}
