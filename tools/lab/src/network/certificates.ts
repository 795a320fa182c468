import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface KeyPair {
  /** Both in PEM. */
  readonly key: string
  readonly cert: string
}

/** Certificates from the openssl command line, so that a test does not rely on our own issuer. */
export interface TestIssuer extends AsyncDisposable {
  readonly cert: string
  /** `names` in openssl's format: 'URI:skerry://lab/cell/a'. */
  issue(...names: readonly string[]): Promise<KeyPair>
}

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const

export async function startIssuer(name: string): Promise<TestIssuer> {
  const directory = await mkdtempDisposable(join(tmpdir(), 'skerry-issuer-'))
  const at = (file: string) => join(directory.path, file)
  const openssl = (...words: readonly string[]) => run('openssl', [...words])
  await openssl(
    'req',
    '-x509',
    ...EC,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.crt'),
  )
  let issued = 0
  return {
    cert: await readFile(at('ca.crt'), 'utf8'),
    async issue(...names) {
      issued += 1
      const [key, request, cert, extensions] = ['key', 'csr', 'crt', 'ext'].map((end) =>
        at(`${issued}.${end}`),
      ) as [string, string, string, string]
      const lines = ['extendedKeyUsage=clientAuth,serverAuth']
      if (names.length > 0) lines.push(`subjectAltName=${names.join(',')}`)
      await writeFile(extensions, `${lines.join('\n')}\n`)
      await openssl('req', '-new', ...EC, '-subj', '/CN=any', '-keyout', key, '-out', request)
      await openssl(
        'x509',
        '-req',
        '-in',
        request,
        '-CA',
        at('ca.crt'),
        '-CAkey',
        at('ca.key'),
        '-set_serial',
        String(issued),
        '-days',
        '1',
        '-extfile',
        extensions,
        '-out',
        cert,
      )
      return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') }
    },
    [Symbol.asyncDispose]: () => directory.remove(),
  }
}
