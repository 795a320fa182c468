import { useState, type FormEvent } from 'react'

import { ApiError, explain } from '../api/client.ts'
import { CODE_MISSING } from '../api/second-factor-documents.ts'
import { Button } from '../components/button.tsx'
import { TextField } from '../components/field.tsx'
import { logIn } from '../data/session.ts'
import { rememberLoginOrg, useLoginServers } from './login-servers.ts'
import { CodeField } from './second-factors/code-field.tsx'
import { hasPasskeys, logInWithPasskey } from './second-factors/passkeys.ts'

import style from './login-form.module.css'

interface LoginFormProps {
  /** The user whose session ended; undefined: anyone. */
  readonly name?: string
  /** What is in the field of the user at first. */
  readonly first?: string
  /** Why a login at an identity server failed. */
  readonly problem?: string
  /** The page to come back to from an identity server. */
  readonly to: string
  readonly onName?: (name: string) => void
  readonly onDone: () => void
}

export function LoginForm({ name: given, first, problem, to, onName, onDone }: LoginFormProps) {
  const [name, setName] = useState(given ?? first ?? '')
  const [password, setPassword] = useState('')
  /** undefined: not asked for. */
  const [code, setCode] = useState<string>()
  const [error, setError] = useState(problem ?? '')
  const [isPending, setPending] = useState(false)
  const attempt = async (work: () => Promise<void>, onError: (error: unknown) => void) => {
    setPending(true)
    setError('')
    try {
      await work()
      onDone()
    } catch (caught) {
      onError(caught)
    }
    setPending(false)
  }
  const submit = (event: FormEvent): Promise<void> => {
    event.preventDefault()
    return attempt(
      () => logIn(name, password, code),
      (caught) => {
        const needsCode = caught instanceof ApiError && caught.code === CODE_MISSING
        if (!needsCode) setError(explain(caught))
        // The password is right, once a code was asked for.
        if (needsCode || code !== undefined) setCode('')
        else setPassword('')
      },
    )
  }
  const usePasskey = (): Promise<void> =>
    attempt(logInWithPasskey, (caught) => setError(explain(caught)))
  const busy = isPending ? 'the login is being checked' : undefined
  return (
    <form className={style['form']} onSubmit={(event) => void submit(event)}>
      {error !== '' && (
        <p className={style['error']} role="alert">
          {error}
        </p>
      )}
      <TextField
        label="User"
        name="username"
        autoComplete="username"
        placeholder="name@organisation"
        autoCapitalize="none"
        required
        pattern=".+@.+"
        readOnly={given !== undefined}
        value={name}
        onChange={(event) => {
          setName(event.target.value)
          setCode(undefined)
          onName?.(event.target.value)
        }}
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      {code !== undefined && <CodeField autoFocus value={code} onChange={setCode} />}
      <Button type="submit" tone="primary" className={style['submit'] ?? ''} unavailable={busy}>
        {isPending ? 'Logging in…' : 'Log in'}
      </Button>
      {hasPasskeys() && (
        <Button
          icon="key"
          className={style['submit'] ?? ''}
          unavailable={busy}
          onClick={() => void usePasskey()}
        >
          Log in with a passkey
        </Button>
      )}
      <OtherLogins org={orgIn(name)} to={to} />
    </form>
  )
}

const orgIn = (name: string): string => name.slice(name.lastIndexOf('@') + 1 || name.length)

/** Logins at the identity servers of this organisation: their pages ask who the user is. */
function OtherLogins({ org, to }: { readonly org: string; readonly to: string }) {
  const servers = useLoginServers(org)
  return servers.map(({ name, href }) => (
    <a
      key={href}
      className={style['other'] ?? ''}
      href={`${href}?to=${encodeURIComponent(to)}`}
      onClick={() => rememberLoginOrg(org)}
    >
      Log in with {name}
    </a>
  ))
}
