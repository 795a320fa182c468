import type { End } from './explain.ts'

/** Whether the servers behind this page answer, and on a laptop what they say of the VM: a refused WebSocket tells nothing. */
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

type Power = 'on' | 'off' | 'gone' | 'locked' | 'not told'

/** Of a VM of this laptop; 'locked' where vmd wants a token, which no page has. Throws when vmd does not answer. */
export async function readPower(name: string): Promise<Power> {
  const answer = await fetch(`/api/vms/power/${encodeURIComponent(name)}`, { cache: 'no-store' })
  if (answer.status === 404) return 'gone'
  if (answer.status === 401) return 'locked'
  if (!answer.ok) return 'not told'
  const { message } = (await answer.json()) as { message?: unknown }
  return message === 'powered off' || message === 'suspended' ? 'off' : 'on'
}
