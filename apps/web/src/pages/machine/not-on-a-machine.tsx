import { Link } from 'react-router'

import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState } from '../../components/empty-state.tsx'

import page from '../../styles/page.module.css'

/** An address that only a cloud has. */
export function NotOnAMachinePage() {
  usePageTitle({ text: 'Only in a cloud' })
  return (
    <div className={page['page']}>
      <EmptyState
        title="A single machine does not have this page"
        commands={<CommandLine text="skerry up" />}
      >
        <p>
          vApps, organisations, users, hosts and workflows belong to a cloud. This machine has{' '}
          <Link className={page['link']} to={paths.vms}>
            virtual machines
          </Link>
          ,{' '}
          <Link className={page['link']} to={paths.templates}>
            templates
          </Link>{' '}
          and{' '}
          <Link className={page['link']} to={paths.machine}>
            its own state
          </Link>
          . A cloud on this machine starts with one command:
        </p>
      </EmptyState>
    </div>
  )
}
