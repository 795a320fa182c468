// A real OpenLDAP for a test, on loopback, with people, groups in groups, and names made of what filters are written with.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

import { startIssuer } from '../network/certificates.ts'
import { freePorts } from '../network/ports.ts'
import { reasonWithoutRoot } from '../system/packages.ts'
import { killAndWait } from '../system/processes.ts'
import { run } from '../system/run.ts'
import { until } from '../system/wait.ts'
import { lastWords, startDaemon } from './daemon.ts'

const SLAPD = '/usr/sbin/slapd'
const START_MS = 30_000

export interface Directory extends AsyncDisposable {
  /** With TLS from the start. */
  readonly url: string
  /** In the clear, until StartTLS. */
  readonly clearUrl: string
  /** The certificate of its issuer, in PEM. */
  readonly ca: string
  readonly base: string
  readonly reader: { readonly dn: string; readonly password: string }
  /** May change everything. */
  readonly admin: { readonly dn: string; readonly password: string }
  kill9(): Promise<void>
  /** Starts it again on the same ports. */
  restart(): Promise<void>
}

const BASE = 'dc=corp,dc=example'

const entry = (dn: string, ...lines: readonly string[]): string =>
  [`dn: ${dn}`, ...lines].join('\n')

const person = (uid: string, password: string, rdn = uid): string =>
  entry(
    `uid=${rdn},ou=people,${BASE}`,
    'objectClass: inetOrgPerson',
    `uid: ${uid}`,
    'cn: Somebody',
    'sn: Somebody',
    `userPassword: ${password}`,
  )

const group = (name: string, ...members: readonly string[]): string =>
  entry(
    `cn=${name},ou=groups,${BASE}`,
    'objectClass: groupOfNames',
    `cn: ${name}`,
    ...members.map((dn) => `member: ${dn},${BASE}`),
  )

const people = ['alice', 'bob', 'carol', 'dave', 'nobody']

/**
 * alice is in `admins`; bob in `developers`; carol in `core`, which is in `developers`; `ring-a` and `ring-b` contain each other, and
 * dave is in them; nobody is in no group. `crowd` has the people p-1 to p-60. The passwords are the names and `-secret`.
 */
const LDIF = [
  entry(BASE, 'objectClass: dcObject', 'objectClass: organization', 'o: Corp', 'dc: corp'),
  entry(
    `cn=reader,${BASE}`,
    'objectClass: organizationalRole',
    'objectClass: simpleSecurityObject',
    'cn: reader',
    'userPassword: reader-secret',
  ),
  ...['people', 'groups'].map((ou) =>
    entry(`ou=${ou},${BASE}`, 'objectClass: organizationalUnit', `ou: ${ou}`),
  ),
  ...people.map((uid) => person(uid, `${uid}-secret`)),
  person('o*(cn=)\\', 'hostile-secret', 'o*\\28cn\\3d\\29\\5c'),
  ...Array.from({ length: 60 }, (_, at) => person(`p-${at + 1}`, `p-${at + 1}-secret`)),
  group('admins', 'uid=alice,ou=people'),
  group(
    'developers',
    'uid=bob,ou=people',
    'cn=core,ou=groups',
    'uid=o*\\28cn\\3d\\29\\5c,ou=people',
  ),
  group('core', 'uid=carol,ou=people'),
  group('ring-a', 'cn=ring-b,ou=groups', 'uid=dave,ou=people'),
  group('ring-b', 'cn=ring-a,ou=groups'),
  group('crowd', ...Array.from({ length: 60 }, (_, at) => `uid=p-${at + 1},ou=people`)),
].join('\n\n')

const configuration = (dir: string): string => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile ${dir}/ca.pem
TLSCertificateFile ${dir}/server.pem
TLSCertificateKeyFile ${dir}/server.key
sizelimit 500
disallow bind_anon
security simple_bind=128
database mdb
suffix "${BASE}"
rootdn "cn=admin,${BASE}"
rootpw admin-secret
directory ${dir}/db
maxsize 1073741824
dbnosync
index objectClass,uid,member,entryUUID eq
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=reader,${BASE}" read by * none
`

/** Keeps its data below a directory, which must be empty. */
export async function startDirectory(dir: string): Promise<Directory> {
  const reason = reasonWithoutRoot('identity')
  if (reason !== undefined) throw new Error(reason)
  await mkdir(join(dir, 'db'), { recursive: true })
  const at = (file: string) => join(dir, file)
  await using issuer = await startIssuer('directory')
  const { key, cert } = await issuer.issue('DNS:localhost', 'IP:127.0.0.1')
  await writeFile(at('ca.pem'), issuer.cert)
  await writeFile(at('server.pem'), cert)
  await writeFile(at('server.key'), key, { mode: 0o600 })
  await writeFile(at('slapd.conf'), configuration(dir))
  await writeFile(at('people.ldif'), `${LDIF}\n`)
  if (!existsSync(at('db/data.mdb'))) {
    await run([SLAPD, '-T', 'add', '-f', at('slapd.conf'), '-l', at('people.ldif')])
  }
  const port = await freePorts(2)
  const [clearUrl, url] = [`ldap://127.0.0.1:${port}`, `ldaps://127.0.0.1:${port + 1}`]
  let daemon: ReturnType<typeof startDaemon> | undefined
  const restart = async () => {
    const log = at('slapd.log')
    // -d keeps it in the foreground.
    const words = ['-d', '0', '-f', at('slapd.conf'), '-h', `${clearUrl} ${url}`]
    daemon = startDaemon({ dir, log, command: [SLAPD, ...words], outlives: false })
    const { pid } = daemon
    await until(`slapd ${pid} listens`, () => isListening(port + 1), START_MS).catch(
      async (cause: unknown) => {
        throw new Error(`slapd did not start: ${await lastWords(log)}`, { cause })
      },
    )
  }
  const kill9 = async () => {
    if (daemon) await killAndWait([daemon.pid])
    daemon = undefined
  }
  await restart()
  return {
    url,
    clearUrl,
    ca: issuer.cert,
    base: BASE,
    reader: { dn: `cn=reader,${BASE}`, password: 'reader-secret' },
    admin: { dn: `cn=admin,${BASE}`, password: 'admin-secret' },
    kill9,
    restart,
    [Symbol.asyncDispose]: kill9,
  }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(socket.destroy() === socket))
    socket.once('error', () => resolve(false))
  })
