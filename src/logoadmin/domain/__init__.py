"""The rules of logoadmin, without a database, a clock or the web.

Where each heading of the specification and of the contract lives:

==============================  =====================================
spec, Resources                 :mod:`~logoadmin.domain.records`
spec, Endpoints                 :mod:`~logoadmin.domain.services`
spec, Authentication            :mod:`~logoadmin.domain.services.sessions`
spec, Errors                    :mod:`~logoadmin.domain.errors`
spec, Limits; contract A1-A3    :mod:`~logoadmin.domain.limits`
contract A4, A5                 :mod:`~logoadmin.domain.command`
contract A19, B                 :mod:`~logoadmin.domain.access`
contract B5                     :mod:`~logoadmin.domain.transactions`
contract C                      :mod:`~logoadmin.domain.services.sessions`
contract D                      :mod:`~logoadmin.domain.services`
contract E                      :mod:`~logoadmin.domain.lists`
contract H3                     :mod:`~logoadmin.domain.services.setup`
contract H6                     :mod:`~logoadmin.domain.logo_admin`
contract I                      :mod:`~logoadmin.domain.services.transfer`
==============================  =====================================
"""
