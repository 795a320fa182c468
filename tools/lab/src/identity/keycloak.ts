// A real Keycloak for a proof, on loopback with TLS, and with its data in memory: each start is a new one.
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { startIssuer } from '../network/certificates.ts'
import { freePorts } from '../network/ports.ts'
import { lastWords, startDaemon } from '../servers/daemon.ts'
import { killAndWait } from '../system/processes.ts'
import { SLOW_POLL_MS, until } from '../system/wait.ts'
import { keycloakHeap, keycloakProgram } from './keycloak-program.ts'

/** On two busy cores it takes minutes. */
const START_MS = 900_000
/** A token of the administrator is good for a minute. */
const TOKEN_MS = 40_000
/** What bin/kc.sh opens. */
const opened = ['util', 'util.concurrent', 'security', 'lang'].map(
  (part) => `--add-opens=java.base/java.${part}=ALL-UNNAMED`,
)
const ADMIN = { name: 'admin', password: 'admin-secret' } as const

export interface Keycloak extends AsyncDisposable {
  /** `https://localhost:PORT`, which is another site than 127.0.0.1. */
  readonly origin: string
  /** The certificate of its issuer, in PEM. */
  readonly ca: string
  /** A request to the API of its administration, such as `realms/corp`; throws for a status other than 2xx. */
  administer<T = unknown>(method: string, path: string, body?: unknown): Promise<T>
}

export interface KeycloakOptions {
  /** An empty directory. */
  readonly dir: string
  /** The issuers, in PEM, of the servers that it sends logouts to. */
  readonly trusts: string
}

export async function startKeycloak({ dir, trusts }: KeycloakOptions): Promise<Keycloak> {
  const home = await keycloakProgram()
  await mkdir(dir, { recursive: true })
  const at = (file: string) => join(dir, file)
  await using issuer = await startIssuer('keycloak')
  const { key, cert } = await issuer.issue('DNS:localhost')
  await writeFile(at('server.key'), key, { mode: 0o600 })
  await writeFile(at('server.pem'), cert)
  await writeFile(at('trusts.pem'), trusts)
  const port = await freePorts(1)
  const origin = `https://localhost:${port}`
  const log = at('keycloak.log')
  // Not bin/kc.sh, which would leave its Java running when it is killed.
  const daemon = startDaemon({
    dir,
    log,
    outlives: false,
    command: [
      'java',
      ...keycloakHeap,
      // It runs for minutes only: code that is compiled once, and quickly.
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      ...opened,
      `-Dkc.home.dir=${home}`,
      `-Djboss.server.config.dir=${home}/conf`,
      '-Djava.util.logging.manager=org.jboss.logmanager.LogManager',
      '-cp',
      `${home}/lib/quarkus-run.jar`,
      'io.quarkus.bootstrap.runner.QuarkusEntryPoint',
      'start',
      '--optimized',
      '--http-host=127.0.0.1',
      `--https-port=${port}`,
      `--hostname=${origin}`,
      `--https-certificate-file=${at('server.pem')}`,
      `--https-certificate-key-file=${at('server.key')}`,
      `--truststore-paths=${at('trusts.pem')}`,
    ],
    env: {
      KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.name,
      KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    },
  })
  const ask = async (path: string, sent: Sent = {}): Promise<readonly [number, string]> => {
    const { method = 'GET', headers = {}, body } = sent
    const asked = request(`${origin}${path}`, { method, headers, ca: issuer.cert, agent: false })
    asked.end(body)
    const [response] = await once(asked, 'response')
    return [response.statusCode, await text(response)]
  }
  const isUp = async () => {
    if (daemon.exitCode !== null) throw new Error(`Keycloak ended: ${await lastWords(log, 40)}`)
    const [status] = await ask('/realms/master').catch(() => [0])
    return status === 200
  }
  const stop = () => killAndWait([daemon.pid])
  try {
    await until(`Keycloak answers; see ${log}`, isUp, START_MS, SLOW_POLL_MS)
  } catch (error) {
    await stop()
    throw error
  }
  let token = ''
  let takenAt = Number.NEGATIVE_INFINITY
  const tokenNow = async () => {
    if (performance.now() - takenAt < TOKEN_MS) return token
    takenAt = performance.now()
    const [status, answer] = await ask('/realms/master/protocol/openid-connect/token', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=password&client_id=admin-cli&username=${ADMIN.name}&password=${ADMIN.password}`,
    })
    if (status !== 200) throw new Error(`no token for the administrator of Keycloak: ${answer}`)
    token = (JSON.parse(answer) as { readonly access_token: string }).access_token
    return token
  }
  return {
    origin,
    ca: issuer.cert,
    async administer<T>(method: string, path: string, body?: unknown) {
      const [status, answer] = await ask(`/admin/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${await tokenNow()}`,
          'content-type': 'application/json',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${answer}`)
      return (answer === '' ? undefined : JSON.parse(answer)) as T
    },
    [Symbol.asyncDispose]: stop,
  }
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
