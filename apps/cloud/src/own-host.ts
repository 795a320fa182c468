import { Fault } from '@skerry/fault'

/**
 * Screens are shown at another host than the cloud's: cookies know hosts, not ports, and what runs in a page that shows what a guest
 * draws must not be able to bring those of the API along.
 */
export function requireApart(option: string, host: string, base: string): void {
  const { hostname } = new URL(base)
  const own = hostname.replace(/^\[|\]$/g, '')
  if (host.toLowerCase() !== own.toLowerCase()) return
  throw new Fault('invalid', `${option} must name another host than the cloud’s own, ${own}`, {
    hint: `give consoles a name of their own, such as console.${own}, or an address of their own`,
  })
}
