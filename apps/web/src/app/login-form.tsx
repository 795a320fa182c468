import { useState, type FormEvent } from 'react'

import { explain } from '../api/client.ts'
import { Button } from '../components/button.tsx'
import { TextField } from '../components/field.tsx'
import { logIn } from '../data/session.ts'

import style from './login-form.module.css'

interface LoginFormProps {
  /** The user whose session ended; undefined: anyone. */
  readonly name?: string
  readonly onName?: (name: string) => void
  readonly onDone: () => void
}

export function LoginForm({ name: given, onName, onDone }: LoginFormProps) {
  const [name, setName] = useState(given ?? '')
  const [password, setPassword] = useState('')
  const [error, setError] = useState('')
  const [isPending, setPending] = useState(false)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setPending(true)
    setError('')
    try {
      await logIn(name, password)
      onDone()
    } catch (caught) {
      setError(explain(caught))
      setPassword('')
    }
    setPending(false)
  }
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
      <Button
        type="submit"
        tone="primary"
        className={style['submit'] ?? ''}
        unavailable={isPending ? 'the login is being checked' : undefined}
      >
        {isPending ? 'Logging in…' : 'Log in'}
      </Button>
    </form>
  )
}
