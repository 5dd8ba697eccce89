"""The rules of logoadmin, without a database, a clock or the web.

Where each heading of the specification and of the contract lives, as far as it is about rules:

======================================  ==========================================
what is                                 :mod:`~logoadmin.domain.model`
spec, Resources                         :mod:`~logoadmin.domain.model.records`
spec, Endpoints 1-4; contract A12, A13  :mod:`~logoadmin.domain.services.users`
spec, Endpoints 5; contract A11         :mod:`~logoadmin.domain.services.roles`
spec, Endpoints 6, 7; contract A14      :mod:`~logoadmin.domain.services.authors`
spec, Endpoints 8-12; contract A15-A18  :mod:`~logoadmin.domain.services.artworks`
spec, Authentication; contract C1-C4    :mod:`~logoadmin.domain.services.sessions`
spec, Errors; contract A7-A9, A20       :mod:`~logoadmin.domain.model.errors`
spec, Limits; contract A1-A3            :mod:`~logoadmin.domain.model.limits`
the five kinds of record                :mod:`~logoadmin.domain.model.kinds`
contract A4, A5                         :mod:`~logoadmin.domain.model.command`
contract A19, B1-B3                     :mod:`~logoadmin.domain.model.access`
contract B4, no escalation              :mod:`~logoadmin.domain.audit.escalation`
contract B5                             :mod:`~logoadmin.domain.use_cases`
contract C1, too many failures          :mod:`~logoadmin.domain.sign_in_limits`
contract C2, keys in the database; H3   :mod:`~logoadmin.domain.services.setup`
contract C5                             :mod:`~logoadmin.domain.services.keys`
                                        :mod:`~logoadmin.domain.use_cases`
contract C6                             :mod:`~logoadmin.domain.open_sessions`
                                        :mod:`~logoadmin.domain.model.sessions`
contract D                              :mod:`~logoadmin.domain.services`
contract E                              :mod:`~logoadmin.domain.model.lists`
                                        :mod:`~logoadmin.domain.pagination`
contract F1                             :mod:`~logoadmin.domain.model.records`
contract F3                             :mod:`~logoadmin.domain.idempotency`
contract C3, C5, F3, hashes             :mod:`~logoadmin.domain.model.sessions`
contract B4, F1, G, at each change      :mod:`~logoadmin.domain.audit`
contract G, writing it down             :mod:`~logoadmin.domain.audit.unit_of_work`
                                        :mod:`~logoadmin.domain.audit.records`
contract G, reading it; G2              :mod:`~logoadmin.domain.services.changes`
contract A20, several writes as one; H6 :mod:`~logoadmin.domain.logo_admin`
contract I                              :mod:`~logoadmin.domain.services.import_export`
                                        :mod:`~logoadmin.domain.services.jsonl`
contract K3, why a database fails       :mod:`~logoadmin.domain.model.causes`
contract K4, what doctor finds          :mod:`~logoadmin.domain.model.checks`
======================================  ==========================================
"""
