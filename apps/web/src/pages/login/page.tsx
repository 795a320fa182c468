import { useState } from 'react'
import { useNavigate } from 'react-router'

import { LoginForm } from '../../app/login-form.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { CommandChoice, CommandLine } from '../../components/command-line.tsx'
import { Logo } from '../../components/icon.tsx'
import { pageConfig } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'
import { textParam } from '../../model/search-params.ts'

import style from './page.module.css'

const schema = { to: textParam() }

/** Only pages of this app: the address comes from outside. */
const safeTarget = (to: string): string => (/^\/(?!\/)/.test(to) ? to : paths.vms)

export function LoginPage() {
  usePageTitle({ text: 'Log in' })
  const { kind } = useStore(pageConfig)
  return kind === 'machine' ? <LockedMachine /> : <CloudLogin />
}

/** A machine that requires its token: only a terminal can open its page. */
function LockedMachine() {
  const { name } = useStore(pageConfig)
  return (
    <div className={style['page']}>
      <main>
        <div className={style['sheet']}>
          <div className={style['brand']}>
            <Logo size={34} />
            <div>
              <h1>Skerry</h1>
              <p>{name}</p>
            </div>
          </div>
          <p>This page needs a session. Open it from a terminal of this machine:</p>
          <CommandLine text="skerry ui" />
        </div>
      </main>
    </div>
  )
}

function CloudLogin() {
  const { name, version } = useStore(pageConfig)
  const [search] = useSearch(schema)
  const navigate = useNavigate()
  const [user, setUser] = useState('')
  const shown = user === '' ? 'name@organisation' : user
  return (
    <div className={style['page']}>
      <main>
        <div className={style['sheet']}>
          <div className={style['brand']}>
            <Logo size={34} />
            <div>
              <h1>Skerry</h1>
              <p>{name}</p>
            </div>
          </div>
          <LoginForm
            onName={setUser}
            onDone={() => void navigate(safeTarget(search.to), { replace: true })}
          />
        </div>
      </main>
      <footer className={style['footer']}>
        <CommandChoice
          title={`Skerry ${version} · on a terminal`}
          skerry={`skerry login work https://${name} --user ${shown}`}
          curl={`curl -u ${shown} -X POST -D - -H 'Accept: application/*+json;version=5.1' https://${name}/api/sessions`}
        />
      </footer>
    </div>
  )
}
