// The screen and the measurements of a VM, invented from its number.
import { factsOf, statusOf } from './inventory.ts'

const LINES = [
  'SeaBIOS (version 1.16.2-debian-1.16.2-1)',
  '',
  'Booting from Hard Disk...',
  '',
  '[    0.000000] Linux version 6.12.48-amd64',
  '[    1.204417] virtio_blk virtio1: [vda] 125829120 512-byte blocks',
  '[    1.731220] EXT4-fs (vda1): mounted filesystem',
  '[    2.411908] systemd[1]: Detected virtualization kvm.',
  '[  OK  ] Reached target network-online.target.',
  '[  OK  ] Started ssh.service - OpenBSD Secure Shell server.',
  '',
  'Debian GNU/Linux 13 NAME tty1',
  '',
  'NAME login: _',
]

export function screenshot(n: number): string {
  const { name } = factsOf(n)
  const lines = LINES.map(
    (line, at) =>
      `<text x="14" y="${36 + at * 34}" xml:space="preserve">${line.replace('NAME', name)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1280 800"><rect width="1280" height="800"/><g font-family="monospace" font-size="25" fill="#b9c0c4">${lines.join('')}</g></svg>`
}

const MB = 1e6

/** As a host that missed some samples a while ago. */
const isGap = (fromEnd: number): boolean => fromEnd >= 40 && fromEnd < 48

export function metrics(n: number, step: number, points: number) {
  const now = Math.floor(Date.now() / 1000 / step) * step
  const isOn = statusOf(n) === 'POWERED_ON'
  const { memory } = factsOf(n)
  const series = (seed: number, level: number, swing: number, burst = 0): (number | null)[] =>
    Array.from({ length: isOn ? points : 0 }, (_, at) => {
      if (isGap(points - at)) return null
      const t = (now - (points - at) * step) / step
      const noise =
        Math.sin(t / 7 + seed) * 0.5 +
        Math.sin(t / 23 + seed * 2) * 0.3 +
        Math.sin(t * 1.7 + seed) * 0.2
      const spike = burst > 0 && Math.sin(t / 11 + seed * 3) > 0.93 ? burst : 0
      return Math.max(0, Math.round(level + swing * noise + spike))
    })
  return {
    step,
    until: new Date(now * 1000).toISOString(),
    cpuPercent: series(n % 17, 34, 16, 40),
    memoryMB: series(n % 5, memory * 0.58, memory * 0.07),
    diskRead: series(n % 7, 1.4 * MB, 1.3 * MB, 9 * MB),
    diskWrite: series(n % 11, 2.2 * MB, 1.8 * MB, 14 * MB),
    netIn: series(n % 13, 0.8 * MB, 0.5 * MB, 2 * MB),
    netOut: series(n % 3, 0.4 * MB, 0.3 * MB, MB),
  }
}
