// Cells and open consoles of the simulated cell.
import { factsOf, HOSTS, KIND, mix, orgName, uuidOf } from './inventory.ts'
import { vmHref } from './vm-documents.ts'

const iso = (ms: number): string => new Date(ms).toISOString()
const HOUR_MS = 3_600_000

interface SimulatedCondition {
  readonly name: string
  readonly isOk: boolean
  readonly value: string
}
const good: readonly SimulatedCondition[] = [
  { name: 'clock', isOk: true, value: "the clock of this cell is 0 s ahead of the database's" },
  {
    name: 'certificate',
    isOk: true,
    value:
      'the certificate of this cell is valid from 2026-11-15T12:00:00.000Z to 2026-11-16T12:00:00.000Z',
  },
  { name: 'hosts', isOk: true, value: 'hosts respond, or no other cell reaches any' },
  { name: 'database', isOk: true, value: 'PostgreSQL answers' },
]
const temporal = (isOk: boolean): SimulatedCondition => ({
  name: 'temporal',
  isOk,
  value: isOk ? 'Temporal answers' : 'Temporal does not answer: no task starts',
})

/** Two cells that share the hosts, of which one does not reach Temporal, and one that died. */
export function cellsDocument() {
  const since = iso(Date.now() - 26 * HOUR_MS)
  const cell = (name: string, numberOfHosts: number, all: readonly SimulatedCondition[]) => ({
    name,
    isAlive: true,
    isFit: true,
    lastSeen: iso(Date.now() - 1200),
    version: '0.1.0',
    numberOfHosts,
    condition: all.map((each) => ({ ...each, since })),
  })
  return {
    cell: [
      cell('cell-1', Math.ceil(HOSTS / 2), [...good, temporal(true)]),
      cell('cell-2', Math.floor(HOSTS / 2), [...good, temporal(false)]),
      {
        ...cell('cell-3', 0, [...good, temporal(true)]),
        isAlive: false,
        lastSeen: iso(Date.now() - 3 * HOUR_MS),
      },
    ],
  }
}

const CONSOLES = 12
const closed = new Set<number>()
export const closeConsole = (n: number): void => void closed.add(n)

export function consolesDocument() {
  const open = Array.from({ length: CONSOLES }, (_, n) => n).filter((n) => !closed.has(n))
  return {
    console: open.map((n) => {
      const vm = mix(n * 13) % 5000
      const id = uuidOf(KIND.user, n)
      return {
        id: `urn:skerry:console:${id}`,
        userName: ['alice', 'bob', 'carol', 'root'][mix(n) % 4] ?? 'alice',
        userAddress: `10.1.${n % 4}.${20 + n}`,
        orgName: orgName(n % 3),
        containerName: factsOf(vm).vapp,
        vmName: factsOf(vm).name,
        vm: vmHref(vm),
        server: `console-${(n % 2) + 1}`,
        openedAt: iso(Date.now() - (CONSOLES - n) * 11 * 60_000),
        bytes: 1_300_000 * (CONSOLES - n),
        link: [{ rel: 'remove', href: `/api/admin/console/${id}` }],
      }
    }),
  }
}
