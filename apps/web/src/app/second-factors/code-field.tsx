import { useState } from 'react'

import { explain } from '../../api/client.ts'
import type { SecondFactorDocument } from '../../api/second-factor-documents.ts'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/field.tsx'
import { hasPasskeys, provePasskey } from './passkeys.ts'

import style from './second-factors.module.css'

interface CodeFieldProps {
  readonly value: string
  readonly onChange: (code: string) => void
  readonly autoFocus?: boolean
  /** Confirmed second factors of the user. Default: unknown, as before the login. */
  readonly known?: readonly Pick<SecondFactorDocument, 'kind'>[]
}

type CodeSource = 'app' | 'recovery' | 'passkey'

const ways: Readonly<Record<CodeSource, string>> = {
  app: 'Use a code of the app',
  recovery: 'Use a recovery code',
  passkey: 'Use a passkey',
}

/** A code of the app, a recovery code, which has letters too, or a passkey. */
export function CodeField({ value, onChange, autoFocus = false, known }: CodeFieldProps) {
  const offered = waysOf(known)
  const [way, setWay] = useState<CodeSource>(offered[0] ?? 'app')
  const [wasSwapped, setSwapped] = useState(false)
  const swap = (next: CodeSource): void => {
    setWay(next)
    setSwapped(true)
    onChange('')
  }
  return (
    <div className={style['code']}>
      {way === 'passkey' ? (
        <PasskeyProof isProved={value !== ''} onChange={onChange} />
      ) : (
        <TypedField
          // Another keyboard of a phone.
          key={way}
          isRecovery={way === 'recovery'}
          autoFocus={autoFocus || wasSwapped}
          value={value}
          onChange={onChange}
        />
      )}
      {offered
        .filter((each) => each !== way)
        .map((each) => (
          <Button
            key={each}
            small
            tone="plain"
            className={style['swap'] ?? ''}
            onClick={() => swap(each)}
          >
            {ways[each]}
          </Button>
        ))}
    </div>
  )
}

function waysOf(known: CodeFieldProps['known']): readonly CodeSource[] {
  if (!known) return ['app', 'recovery']
  const has = (kind: SecondFactorDocument['kind']): boolean =>
    known.some((each) => each.kind === kind)
  return [
    ...(has('PASSKEY') && hasPasskeys() ? (['passkey'] as const) : []),
    ...(has('TOTP') ? (['app'] as const) : []),
    'recovery',
  ]
}

interface TypedFieldProps extends Required<
  Pick<CodeFieldProps, 'value' | 'onChange' | 'autoFocus'>
> {
  readonly isRecovery: boolean
}

const TypedField = ({ isRecovery, autoFocus, value, onChange }: TypedFieldProps) => (
  <TextField
    label={isRecovery ? 'Recovery code' : 'Code of the second factor'}
    hint={
      isRecovery
        ? 'One of those that were shown once. It counts once.'
        : 'The six digits that your app shows now.'
    }
    name="one-time-code"
    autoComplete={isRecovery ? 'off' : 'one-time-code'}
    inputMode={isRecovery ? 'text' : 'numeric'}
    autoCapitalize="none"
    required
    autoFocus={autoFocus}
    value={value}
    onChange={(event) => onChange(event.target.value)}
  />
)

interface PasskeyProofProps {
  readonly isProved: boolean
  readonly onChange: (code: string) => void
}

function PasskeyProof({ isProved, onChange }: PasskeyProofProps) {
  const [error, setError] = useState('')
  const prove = async (): Promise<void> => {
    setError('')
    try {
      onChange(await provePasskey())
    } catch (caught) {
      setError(explain(caught))
    }
  }
  return (
    <div className={style['proof']} role="status">
      {isProved && <p>Your passkey has proved you.</p>}
      <Button icon="key" onClick={() => void prove()}>
        {isProved ? 'Prove again' : 'Prove with your passkey'}
      </Button>
      {error !== '' && <p className={style['error']}>{error}</p>}
    </div>
  )
}
