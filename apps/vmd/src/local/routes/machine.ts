import { constants } from 'node:fs'
import { access, readFile, statfs } from 'node:fs/promises'
import { availableParallelism, freemem, totalmem } from 'node:os'
import { delimiter, join } from 'node:path'

import * as engine from '@skerry/engine'
import { Type } from '@skerry/schema'
import {
  accelerationFinding,
  KVM,
  overlayFinding,
  programDirectories,
  programFinding,
  requiredPrograms,
  spaceFinding,
  templateFinding,
  type MachineFinding,
} from '@skerry/vm'

import { route } from '../route.ts'

const MIB = 1024 ** 2

const MachineBody = Type.Object({
  name: Type.String(),
  version: Type.String(),
  cpus: Type.Integer(),
  memoryMiB: Type.Integer(),
  freeMemoryMiB: Type.Integer(),
  dataDirectory: Type.String(),
  storageMiB: Type.Integer(),
  freeStorageMiB: Type.Integer(),
  checks: Type.Array(
    Type.Object({
      check: Type.String(),
      state: Type.Enum(['ok', 'warn', 'fail']),
      found: Type.String(),
      fix: Type.Optional(Type.String()),
    }),
  ),
})

export const machine = [
  route({
    name: 'readMachine',
    method: 'GET',
    path: '/api/machine',
    permission: 'local',
    answers: { 200: MachineBody },
    doc: 'This machine: its capacity, and the checks of skerry doctor, each with what to do.',
    async handle({ host, webUi }) {
      const { data } = host.paths
      const { name, version, path } = webUi.machine
      const { blocks, bavail, bsize } = await statfs(data)
      const body = {
        name,
        version,
        cpus: availableParallelism(),
        memoryMiB: Math.floor(totalmem() / MIB),
        freeMemoryMiB: Math.floor(freemem() / MIB),
        dataDirectory: data,
        storageMiB: Math.floor((blocks * bsize) / MIB),
        freeStorageMiB: Math.floor((bavail * bsize) / MIB),
        checks: await checkMachine(host, bavail * bsize, path),
      }
      return { status: 200, body }
    },
  }),
]

async function checkMachine(
  host: engine.Host,
  freeBytes: number,
  path: string,
): Promise<MachineFinding[]> {
  const [programs, cpuinfo, hasKvm, templates] = await Promise.all([
    Promise.all(
      requiredPrograms.map(async (each) => programFinding(each, await find(each.name, path))),
    ),
    readFile('/proc/cpuinfo', 'utf8').catch(() => ''),
    isThere(KVM, constants.F_OK),
    engine.listTemplates(host),
  ])
  const overlay = overlayFinding(host.overlay.now, host.overlay.datapath === 'netdev')
  return [
    ...programs,
    accelerationFinding(cpuinfo, hasKvm),
    spaceFinding(freeBytes, host.paths.data),
    templateFinding(templates.some(({ name }) => name === 'default')),
    ...(overlay ? [overlay] : []),
  ]
}

async function find(name: string, path: string): Promise<string | undefined> {
  const directories = [...path.split(delimiter), ...programDirectories]
  for (const directory of directories.filter((each) => each !== '')) {
    const file = join(directory, name)
    if (await isThere(file, constants.X_OK)) return file
  }
  return undefined
}

const isThere = (file: string, mode: number): Promise<boolean> =>
  access(file, mode).then(
    () => true,
    () => false,
  )
