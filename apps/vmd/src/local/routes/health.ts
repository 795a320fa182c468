import { probeDefine } from '@skerry/engine'
import { Type } from '@skerry/schema'
import { metricsType } from '@skerry/service'

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
    doc: 'Whether vmd’s dependencies work: libvirt must define a probe VM within 5 s, which is removed at once. 200 also when degraded, with the reasons.',
    async handle(local) {
      const reasons = await whatIsWrong(local)
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
    doc: 'vmd’s metrics in the Prometheus text format.',
    async handle({ meter }) {
      return { status: 200, headers: { 'content-type': metricsType }, body: meter.text() }
    },
  }),
]

async function whatIsWrong({ host, journal }: Local): Promise<string[]> {
  const stalled = host.link.isOpen
    ? await probeDefine(host)
    : 'libvirt does not answer: check that libvirtd runs'
  return [
    ...(stalled === undefined ? [] : [stalled]),
    ...(journal.failure === undefined
      ? []
      : [`events cannot be written: free disk space in ${host.paths.data}`]),
  ]
}
