import type { End } from './explain.ts'

/** Finds out why a WebSocket was rejected, which browsers do not report: whether the server answers and, on a laptop, the VM's state. */
export async function findOut(mode: 'cloud' | 'laptop', name: string): Promise<End> {
  try {
    if (mode === 'cloud') {
      await fetch('/health', { cache: 'no-store' })
      return { how: 'refused' }
    }
    const power = await readPower(name)
    if (power === 'gone') return { how: 'no such VM' }
    if (power === 'locked') return { how: 'ticket wanted' }
    return { how: power === 'off' ? 'off' : 'refused' }
  } catch {
    return { how: 'unreachable' }
  }
}

type Power = 'on' | 'off' | 'gone' | 'locked' | 'unknown'

/** The power state of a VM of this laptop; 'locked' if vmd requires a token, which no page has. Throws if vmd does not answer. */
export async function readPower(name: string): Promise<Power> {
  const answer = await fetch(`/api/vms/power/${encodeURIComponent(name)}`, { cache: 'no-store' })
  if (answer.status === 404) return 'gone'
  if (answer.status === 401) return 'locked'
  if (!answer.ok) return 'unknown'
  const { message } = (await answer.json()) as { message?: unknown }
  return message === 'powered off' || message === 'suspended' ? 'off' : 'on'
}
