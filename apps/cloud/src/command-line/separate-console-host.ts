import { Fault } from '@skerry/fault'

/**
 * Screens are served from another host name than the API: cookies are scoped to hosts, not ports, and a page that shows content
 * controlled by a guest must not be able to send the API's cookies.
 */
export function requireSeparateConsoleHost(option: string, host: string, base: string): void {
  const { hostname } = new URL(base)
  const own = hostname.replace(/^\[|\]$/g, '')
  if (host.toLowerCase() !== own.toLowerCase()) return
  throw new Fault('invalid', `${option} must name another host than the cloud itself, ${own}`, {
    hint: `use a separate name for consoles, such as console.${own}, or a separate address`,
  })
}
