"""Logs in with pyvcloud as its own documentation does, and finds the organisation. Arguments: url, ca, org, user, password."""
import sys

from pyvcloud.vcd.client import BasicLoginCredentials, Client
from pyvcloud.vcd.org import Org

url, ca, org_name, user, password = sys.argv[1:]
client = Client(url, api_version='5.1', verify_ssl_certs=ca)
client.set_credentials(BasicLoginCredentials(user, org_name, password))
print(Org(client, resource=client.get_org()).get_name())
client.logout()
