import { useState } from 'react'
import { useNavigate } from 'react-router'

import { LoginForm } from '../../app/login-form.tsx'
import { lastLoginOrg } from '../../app/login-servers.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Sheet } from '../../app/sheet/sheet.tsx'
import { useSearch } from '../../app/use-search.ts'
import { CommandChoice, CommandLine } from '../../components/command-line.tsx'
import { pageConfig } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'

const schema = { to: textParam(), org: textParam(), problem: textParam() }

/** Only pages of this app: the address comes from outside. */
const safeTarget = (to: string): string => (/^\/(?!\/)/.test(to) ? to : paths.vms)

export function LoginPage() {
  usePageTitle({ text: 'Log in' })
  const { kind } = useStore(pageConfig)
  return kind === 'machine' ? <LockedMachine /> : <CloudLogin />
}

/** A machine that requires its token: only a terminal can open its page. */
const LockedMachine = () => (
  <Sheet>
    <p>This page needs a session. Open it from a terminal of this machine:</p>
    <CommandLine text="skerry ui" />
  </Sheet>
)

function CloudLogin() {
  const { name, version } = useStore(pageConfig)
  const [search] = useSearch(schema)
  const navigate = useNavigate()
  const [user, setUser] = useState('')
  const org = search.org === '' ? lastLoginOrg() : search.org
  const shown = user === '' ? 'name@organisation' : user
  return (
    <Sheet
      footer={
        <CommandChoice
          title={`Skerry ${version} · on a terminal`}
          skerry={`skerry login work https://${name} --user ${shown}`}
          curl={`curl -u ${shown} -X POST -D - -H 'Accept: application/*+json;version=5.1' https://${name}/api/sessions`}
        />
      }
    >
      <LoginForm
        first={org === '' ? '' : `@${org}`}
        problem={search.problem === '' ? '' : en.loginProblem(search.problem)}
        to={`/ui${safeTarget(search.to)}`}
        onName={setUser}
        onDone={() => void navigate(safeTarget(search.to), { replace: true })}
      />
    </Sheet>
  )
}
