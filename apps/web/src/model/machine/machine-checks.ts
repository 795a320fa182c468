import type { LocalHealth, MachineCheck } from '../../api/machine.ts'

/** What vmd says of itself, in the form of the other checks. */
export const healthChecks = (health: LocalHealth | undefined): MachineCheck[] =>
  health === undefined
    ? []
    : [
        {
          check: 'vmd',
          state: health.status === 'ok' ? 'ok' : 'fail',
          found: health.status === 'ok' ? 'running' : 'running, but degraded',
          ...(health.reasons.length > 0 && { fix: health.reasons.join('; ') }),
        },
        {
          check: 'libvirt',
          state: health.libvirt === 'up' ? 'ok' : 'fail',
          found: health.libvirt === 'up' ? 'answers' : 'does not answer',
        },
        {
          check: 'journal',
          state: health.journal === 'up' ? 'ok' : 'fail',
          found: health.journal === 'up' ? 'is written' : 'cannot be written',
        },
      ]
