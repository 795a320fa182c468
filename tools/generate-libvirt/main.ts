// Writes packages/libvirt/src/procedures.gen.ts and constants.gen.ts from libvirt's own source.
// Usage: node tools/generate-libvirt/main.ts DIRECTORY
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { readHeaders } from './headers.ts'
import { readProtocol } from './protocol.ts'
import { enums, procedures, streams, texts } from './wanted.ts'
import { writeConstants } from './write-constants.ts'
import { ProcedureWriter } from './write-procedures.ts'

const PROTOCOLS = ['src/remote/remote_protocol.x', 'src/remote/qemu_protocol.x']
const HEADERS = [
  'libvirt-common.h.in',
  'libvirt-host.h',
  'libvirt-domain.h',
  'libvirt-domain-snapshot.h',
  'libvirt-network.h',
  'libvirt-storage.h',
  'libvirt-qemu.h',
  'virterror.h',
]

const source = process.argv[2] ?? process.env['LIBVIRT_SOURCE']
if (source === undefined || source.startsWith('-')) {
  console.error(
    [
      'usage: npm run generate:libvirt -- DIRECTORY',
      '',
      'DIRECTORY is an unpacked source of libvirt, such as `apt-get source libvirt` leaves behind;',
      'or set the variable LIBVIRT_SOURCE. The *.gen.ts files of packages/libvirt are written.',
    ].join('\n'),
  )
  process.exit(2)
}

const headers = readHeaders(HEADERS.map((name) => read(`include/libvirt/${name}`)))
const protocol = readProtocol(PROTOCOLS.map(read).join('\n'), headers.numbers)
const events = headers.enums.get('virDomainEventID')
if (events === undefined) throw new Error('missing in the headers: enum virDomainEventID')

const target = join(import.meta.dirname, '../../packages/libvirt/src')
writeFileSync(
  join(target, 'procedures.gen.ts'),
  new ProcedureWriter(protocol).write({ procedures, streams, events }),
)
writeFileSync(join(target, 'constants.gen.ts'), writeConstants(headers, enums, texts))
console.log(`${procedures.length} calls and ${events.size + 1} events written`)

function read(name: string): string {
  return readFileSync(join(source ?? '', name), 'utf8')
}
