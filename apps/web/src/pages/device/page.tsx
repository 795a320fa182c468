import { useState, type FormEvent } from 'react'

import { explain, request } from '../../api/client.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { TextField } from '../../components/field.tsx'
import { useSession } from '../../data/session.ts'
import { textParam } from '../../model/search-params.ts'

import page from '../../styles/page.module.css'

const schema = { code: textParam() }

interface DeviceLogin {
  readonly code: string
  /** How the program calls itself, and from where it asks. */
  readonly name: string
  readonly address: string
}

/** A program without a browser, such as the CLI at its login, asks to act as this user. */
export function DevicePage() {
  usePageTitle({ text: 'Let a program in' })
  const [search] = useSearch(schema)
  const [code, setCode] = useState(search.code)
  const [found, setFound] = useState<DeviceLogin>()
  const [done, setDone] = useState('')
  const [error, setError] = useState('')
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setError('')
    await work().catch((caught: unknown) => setError(explain(caught)))
  }
  const find = (event: FormEvent): void => {
    event.preventDefault()
    void attempt(async () => {
      setFound(await request<DeviceLogin>(`/login/device?code=${encodeURIComponent(code)}`))
    })
  }
  const answer = (isAllowed: boolean): void =>
    void attempt(async () => {
      await request('/login/device', { method: 'POST', body: { code, isAllowed } })
      setDone(
        isAllowed
          ? 'The program is logged in. You can close this page.'
          : 'The program was refused.',
      )
    })
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <Card title="Let a program in">
        <div className={page['fields']}>
          {error !== '' && <p role="alert">{error}</p>}
          {done !== '' && <p role="status">{done}</p>}
          {done === '' && !found && (
            <form onSubmit={find}>
              <TextField
                label="Code"
                hint="It stands in the terminal where you have started the program."
                autoCapitalize="characters"
                required
                value={code}
                onChange={(event) => setCode(event.target.value)}
              />
              <Button type="submit" tone="primary">
                Go on
              </Button>
            </form>
          )}
          {done === '' && found && <Question found={found} onAnswer={answer} />}
        </div>
      </Card>
    </div>
  )
}

interface QuestionProps {
  readonly found: DeviceLogin
  readonly onAnswer: (isAllowed: boolean) => void
}

function Question({ found: { name, address, code }, onAnswer }: QuestionProps) {
  const { user, org } = useSession()
  return (
    <>
      <Facts
        rows={[
          ['Program', name],
          ['Asks from', address],
          ['Code', code],
          ['Acts as', `${user}@${org}`],
        ]}
      />
      <p>
        It gets an API token with all your rights. Allow it only if you have started it yourself,
        and its terminal shows this code. No administrator ever needs you to do this.
      </p>
      <div>
        <Button tone="primary" onClick={() => onAnswer(true)}>
          Allow
        </Button>{' '}
        <Button onClick={() => onAnswer(false)}>Refuse</Button>
      </div>
    </>
  )
}
