// Passkeys: the browser asks the person for a PIN, a finger or a face, and the cloud checks what it answers.
import { request } from '../../api/client.ts'
import { CODE_HEADER, type RecoveryCodesDocument } from '../../api/second-factor-documents.ts'
import { adoptSession, pageConfig } from '../../data/session.ts'

/** Whether this cloud has a host name, which passkeys need, and this browser reads and writes their JSON. */
export const hasPasskeys = (): boolean =>
  pageConfig.get().passkeys === true &&
  typeof PublicKeyCredential !== 'undefined' &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'

const CHALLENGE = '/login/passkey/challenge'

/** What the person does in the window of the browser; all but one of its errors mean that there was no passkey. */
async function inBrowser<T>(work: () => Promise<T | null>): Promise<T> {
  try {
    const found = await work()
    if (found) return found
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    if (error.name === 'InvalidStateError') {
      throw new Error('This device has a passkey of yours already', { cause: error })
    }
  }
  throw new Error('No passkey was used. Try again')
}

const answerOf = (credential: Credential): unknown =>
  credential instanceof PublicKeyCredential ? credential.toJSON() : undefined

async function showPasskey(): Promise<unknown> {
  const options = await request<PublicKeyCredentialRequestOptionsJSON>(CHALLENGE, {
    method: 'POST',
    body: {},
  })
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  return answerOf(await inBrowser(() => navigator.credentials.get({ publicKey })))
}

export async function logInWithPasskey(): Promise<void> {
  const body = await showPasskey()
  await request('/login/passkey', { method: 'POST', body, expects401: true })
  await adoptSession()
}

/** Returns a code that counts once, as one of an app does. */
export async function provePasskey(): Promise<string> {
  const body = await showPasskey()
  const { code } = await request<{ readonly code: string }>('/login/passkey/proof', {
    method: 'POST',
    body,
  })
  return code
}

/** `code`: of a second factor that the user has. */
export async function addPasskey(name: string, code?: string): Promise<RecoveryCodesDocument> {
  const options = await request<PublicKeyCredentialCreationOptionsJSON>(
    '/login/passkeys/challenge',
    { method: 'POST', body: {}, ...(code !== undefined && { headers: { [CODE_HEADER]: code } }) },
  )
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const made = await inBrowser(() => navigator.credentials.create({ publicKey }))
  const body = { name, passkey: answerOf(made) }
  return request<RecoveryCodesDocument>('/login/passkeys', { method: 'POST', body })
}
