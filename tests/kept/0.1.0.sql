/*M!999999\- enable the sandbox mode */ 

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;
DROP TABLE IF EXISTS `acts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `acts` (
  `act_id` int(11) NOT NULL,
  `last_id` int(11) NOT NULL,
  `request_id` varchar(128) DEFAULT NULL,
  `undoes` int(11) DEFAULT NULL,
  `undone_by` varchar(128) DEFAULT NULL,
  `summary` mediumtext NOT NULL,
  PRIMARY KEY (`act_id`),
  UNIQUE KEY `uq_acts_request_id` (`request_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `acts` WRITE;
/*!40000 ALTER TABLE `acts` DISABLE KEYS */;
INSERT INTO `acts` VALUES
(1,3,'first-start',NULL,NULL,'{\"at\":1795912940,\"source\":\"first start\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"first start\",\"undid\":null,\"count\":3,\"actions\":{\"role.created\":2,\"user.created\":1},\"fields\":[],\"names\":{\"role 1\":\"member\",\"role 2\":\"admin\",\"user 2000000000\":\"admin\"},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{\"role\":[1,2]}}'),
(4,4,NULL,NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"interface\",\"undid\":null,\"count\":1,\"actions\":{\"user.created\":1},\"fields\":[],\"names\":{\"user 1042\":\"Mia\"},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{}}'),
(5,5,NULL,NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"interface\",\"undid\":null,\"count\":1,\"actions\":{\"settings.amended\":1},\"fields\":[\"picture_hosts\",\"gallery_title\"],\"names\":{},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{}}'),
(6,6,NULL,NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"interface\",\"undid\":null,\"count\":1,\"actions\":{\"author.created\":1},\"fields\":[],\"names\":{\"author 1\":\"Mia\"},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{\"author\":[1]}}'),
(7,7,NULL,NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"interface\",\"undid\":null,\"count\":1,\"actions\":{\"logo.created\":1},\"fields\":[],\"names\":{\"logo 1\":\"First\"},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{}}'),
(8,8,NULL,NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"interface\",\"undid\":null,\"count\":1,\"actions\":{\"logo.created\":1},\"fields\":[],\"names\":{\"logo 2\":\"Second\"},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{}}'),
(9,9,NULL,NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"interface\",\"undid\":null,\"count\":1,\"actions\":{\"theme.created\":1},\"fields\":[],\"names\":{\"theme 1\":\"Aurora\"},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{}}'),
(10,10,NULL,NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"interface\",\"undid\":null,\"count\":1,\"actions\":{\"logo.linked\":1},\"fields\":[\"authors\"],\"names\":{\"logo 1\":\"First\"},\"authors\":{\"1\":\"Mia\"},\"switched\":[],\"reasons\":[],\"created\":{}}'),
(11,11,'renamed',NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"interface\",\"undid\":null,\"count\":1,\"actions\":{\"logo.amended\":1},\"fields\":[\"name\"],\"names\":{\"logo 1\":\"Renamed\"},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{}}'),
(12,12,NULL,11,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"undo\",\"undid\":\"interface\",\"count\":1,\"actions\":{\"logo.amended\":1},\"fields\":[\"name\"],\"names\":{\"logo 1\":\"First\"},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{}}'),
(13,13,NULL,NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":null,\"submitter_name\":null,\"note\":null,\"origin\":\"interface\",\"undid\":null,\"count\":1,\"actions\":{\"logo.blocked\":1},\"fields\":[\"active\",\"blocked\"],\"names\":{\"logo 2\":\"Second\"},\"authors\":{},\"switched\":[false],\"reasons\":[\"It covers the sign-in form\"],\"created\":{}}'),
(14,14,NULL,NULL,NULL,'{\"at\":1795912940,\"source\":\"program\",\"user_id\":null,\"user_name\":null,\"submitter_id\":1042,\"submitter_name\":\"Mia\",\"note\":null,\"origin\":\"proposal\",\"undid\":null,\"count\":1,\"actions\":{\"logo.amended\":1},\"fields\":[\"details\"],\"names\":{\"logo 1\":\"First\"},\"authors\":{},\"switched\":[],\"reasons\":[],\"created\":{}}');
/*!40000 ALTER TABLE `acts` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `authors`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `authors` (
  `author_id` int(11) NOT NULL,
  `user_id` int(11) NOT NULL,
  `username` varchar(64) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `version` int(11) NOT NULL DEFAULT 0,
  `name_casefold` varchar(192) NOT NULL DEFAULT '',
  PRIMARY KEY (`author_id`),
  UNIQUE KEY `uq_authors_user_id` (`user_id`),
  UNIQUE KEY `uq_authors_username` (`username`),
  KEY `ix_authors_version` (`version`),
  KEY `ix_authors_name_casefold` (`name_casefold`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `authors` WRITE;
/*!40000 ALTER TABLE `authors` DISABLE KEYS */;
INSERT INTO `authors` VALUES
(1,1042,'Mia',1795912940,6,'mia');
/*!40000 ALTER TABLE `authors` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `challenges`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `challenges` (
  `challenge_hash` varchar(128) NOT NULL,
  `purpose` varchar(32) NOT NULL,
  `user_id` int(11) DEFAULT NULL,
  `data` text NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  PRIMARY KEY (`challenge_hash`),
  KEY `ix_challenges_expires_at` (`expires_at`),
  KEY `ix_challenges_user_id` (`user_id`),
  CONSTRAINT `fk_challenges_user_id` FOREIGN KEY (`user_id`) REFERENCES `users` (`user_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `challenges` WRITE;
/*!40000 ALTER TABLE `challenges` DISABLE KEYS */;
INSERT INTO `challenges` VALUES
('UstKMKfAJ7ZJRmxpIeVTd-A2Xy9DjiRpcr_9A5d0Fm8','used',NULL,'',1796085740);
/*!40000 ALTER TABLE `challenges` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `changes`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `changes` (
  `change_id` int(11) NOT NULL,
  `at` bigint(20) NOT NULL,
  `user_id` int(11) DEFAULT NULL,
  `action` varchar(64) NOT NULL,
  `kind` varchar(16) NOT NULL,
  `record_id` int(11) NOT NULL,
  `before` mediumtext DEFAULT NULL,
  `after` mediumtext DEFAULT NULL,
  `request_id` varchar(128) DEFAULT NULL,
  `origin` varchar(16) DEFAULT NULL,
  `undoes` int(11) DEFAULT NULL,
  `submitter_id` int(11) DEFAULT NULL,
  `source` varchar(16) DEFAULT NULL,
  `note` varchar(200) DEFAULT NULL,
  `act_id` int(11) DEFAULT NULL,
  PRIMARY KEY (`change_id`),
  KEY `ix_changes_request_id` (`request_id`),
  KEY `ix_changes_kind` (`kind`),
  KEY `ix_changes_kind_record_id_change_id` (`kind`,`record_id`,`change_id`),
  KEY `ix_changes_user_id` (`user_id`),
  KEY `ix_changes_at` (`at`),
  KEY `ix_changes_action` (`action`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `changes` WRITE;
/*!40000 ALTER TABLE `changes` DISABLE KEYS */;
INSERT INTO `changes` VALUES
(1,1795912940,NULL,'role.created','role',1,NULL,'{\"role_id\":1,\"name\":\"member\",\"scope\":[\"proposals:write\"],\"created_at\":1795912940}','first-start',NULL,NULL,NULL,'first start',NULL,1),
(2,1795912940,NULL,'role.created','role',2,NULL,'{\"role_id\":2,\"name\":\"admin\",\"scope\":[\"*\"],\"created_at\":1795912940}','first-start',NULL,NULL,NULL,'first start',NULL,1),
(3,1795912940,NULL,'user.created','user',2000000000,NULL,'{\"user_id\":2000000000,\"username\":\"admin\",\"avatar\":null,\"role_id\":2,\"created_at\":1795912940}','first-start',NULL,NULL,NULL,'first start',NULL,1),
(4,1795912940,NULL,'user.created','user',1042,NULL,'{\"user_id\":1042,\"username\":\"Mia\",\"avatar\":null,\"role_id\":2,\"created_at\":1795912940}',NULL,NULL,NULL,NULL,'program',NULL,4),
(5,1795912940,NULL,'settings.amended','settings',1,'{\"picture_hosts\":[]}','{\"picture_hosts\":[\"i.example\"],\"gallery_title\":\"The kept gallery\"}',NULL,NULL,NULL,NULL,'program',NULL,5),
(6,1795912940,NULL,'author.created','author',1,NULL,'{\"author_id\":1,\"user_id\":1042,\"username\":\"Mia\",\"created_at\":1795912940}',NULL,NULL,NULL,NULL,'program',NULL,6),
(7,1795912940,NULL,'logo.created','logo',1,NULL,'{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"authors\":[]}',NULL,NULL,NULL,NULL,'program',NULL,7),
(8,1795912940,NULL,'logo.created','logo',2,NULL,'{\"logo_id\":2,\"name\":\"Second\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"licence\":\"CC0-1.0\"},\"active\":true,\"created_at\":1795912940,\"authors\":[]}',NULL,NULL,NULL,NULL,'program',NULL,8),
(9,1795912940,NULL,'theme.created','theme',1,NULL,'{\"theme_id\":1,\"name\":\"Aurora\",\"preview_url\":\"https://example.org/aurora.png\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"active\":true,\"created_at\":1795912940,\"authors\":[]}',NULL,NULL,NULL,NULL,'program',NULL,9),
(10,1795912940,NULL,'logo.linked','logo',1,'{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"authors\":[]}','{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"authors\":[{\"logo_author_id\":1,\"author_id\":1}]}',NULL,NULL,NULL,NULL,'program',NULL,10),
(11,1795912940,NULL,'logo.amended','logo',1,'{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"authors\":[{\"logo_author_id\":1,\"author_id\":1}]}','{\"logo_id\":1,\"name\":\"Renamed\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"authors\":[{\"logo_author_id\":1,\"author_id\":1}]}','renamed',NULL,NULL,NULL,'program',NULL,11),
(12,1795912940,NULL,'logo.amended','logo',1,'{\"logo_id\":1,\"name\":\"Renamed\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"authors\":[{\"logo_author_id\":1,\"author_id\":1}]}','{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"authors\":[{\"logo_author_id\":1,\"author_id\":1}]}',NULL,'undo',11,NULL,'program',NULL,12),
(13,1795912940,NULL,'logo.blocked','logo',2,'{\"logo_id\":2,\"name\":\"Second\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"licence\":\"CC0-1.0\"},\"active\":true,\"created_at\":1795912940,\"authors\":[]}','{\"logo_id\":2,\"name\":\"Second\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"licence\":\"CC0-1.0\"},\"active\":false,\"created_at\":1795912940,\"authors\":[],\"blocked\":\"It covers the sign-in form\"}',NULL,NULL,NULL,NULL,'program',NULL,13),
(14,1795912940,NULL,'logo.amended','logo',1,'{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"authors\":[{\"logo_author_id\":1,\"author_id\":1}]}','{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"version\":\"3\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"authors\":[{\"logo_author_id\":1,\"author_id\":1}]}',NULL,'proposal',NULL,1042,'program',NULL,14);
/*!40000 ALTER TABLE `changes` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `events`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `events` (
  `event_id` int(11) NOT NULL,
  `at` bigint(20) NOT NULL,
  `event` varchar(32) NOT NULL,
  `user_id` int(11) DEFAULT NULL,
  `user_name` varchar(64) DEFAULT NULL,
  `address` varchar(64) DEFAULT NULL,
  `user_agent` varchar(256) DEFAULT NULL,
  `factor` varchar(32) DEFAULT NULL,
  `count` int(11) NOT NULL,
  `by_user_id` int(11) DEFAULT NULL,
  `by_user_name` varchar(64) DEFAULT NULL,
  `user_since` int(11) NOT NULL DEFAULT 0,
  PRIMARY KEY (`event_id`),
  KEY `ix_events_user_id_event_id` (`user_id`,`event_id`),
  KEY `ix_events_at` (`at`),
  KEY `ix_events_event_at` (`event`,`at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `events` WRITE;
/*!40000 ALTER TABLE `events` DISABLE KEYS */;
INSERT INTO `events` VALUES
(1,1795912940,'signed_in',2000000000,'admin',NULL,NULL,'password',1,NULL,NULL,3),
(2,1795912940,'factor_added',2000000000,'admin',NULL,NULL,'totp',1,NULL,NULL,3),
(3,1795912940,'recovery_codes_made',2000000000,'admin',NULL,NULL,NULL,1,NULL,NULL,3),
(4,1795912940,'factor_added',2000000000,'admin',NULL,NULL,'passkey',1,NULL,NULL,3),
(5,1795912940,'key_made',2000000000,'admin',NULL,NULL,NULL,1,NULL,NULL,3);
/*!40000 ALTER TABLE `events` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `factors`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `factors` (
  `factor_id` int(11) NOT NULL,
  `user_id` int(11) NOT NULL,
  `kind` varchar(32) NOT NULL,
  `name` varchar(64) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `secret` text NOT NULL,
  `credential` text DEFAULT NULL,
  `counter` bigint(20) NOT NULL,
  `confirmed` tinyint(1) NOT NULL,
  `last_used_at` bigint(20) DEFAULT NULL,
  `credential_hash` varchar(64) DEFAULT NULL,
  PRIMARY KEY (`factor_id`),
  UNIQUE KEY `uq_factors_credential_hash` (`credential_hash`),
  KEY `ix_factors_user_id` (`user_id`),
  CONSTRAINT `fk_factors_user_id` FOREIGN KEY (`user_id`) REFERENCES `users` (`user_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `factors` WRITE;
/*!40000 ALTER TABLE `factors` DISABLE KEYS */;
INSERT INTO `factors` VALUES
(1,2000000000,'totp','Phone',1795912940,'gAAAAABrC3TsuTqY8kk-j9qaqk-sx3Jgajpt-n0sWTZ3aMazcxaEbW5xAQXchkU1xd_zgA2M1VcxNhkRpSfDHpqNKwlos8_qNl8XwaXzLSAN8HRq2tkub62rq2SM0712BBWFh0Rx3uhf',NULL,59863763,1,1795912940,NULL),
(2,2000000000,'passkey','Laptop',1795912940,'{\"public_key\":\"pQECAyYgASFYIOs_PTvSYnkvvzxHYKShrRMlyMpNj8vcmsdDenJiC-eoIlggN7jBTxNuOQ4uZ6mmO3US1J0lZKvhR4KkdG-G_dvhc-8\",\"synced\":true,\"transports\":[\"internal\",\"hybrid\"]}','iXVnFiPpcdXyA96KcxvK5wTjyDWesyQIRLqJzHoASMs',0,1,NULL,'f7d1a49c2821e4550c5c8a69c0ebe4af2f6a79b75f3c9ed188798f9488843c8e');
/*!40000 ALTER TABLE `factors` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `identities`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `identities` (
  `identity_hash` varchar(64) NOT NULL,
  `issuer` text NOT NULL,
  `subject` varchar(255) NOT NULL,
  `user_id` int(11) NOT NULL,
  `group_list` mediumtext NOT NULL,
  `refused` tinyint(1) NOT NULL DEFAULT 0,
  PRIMARY KEY (`identity_hash`),
  KEY `ix_identities_user_id` (`user_id`),
  CONSTRAINT `fk_identities_user_id` FOREIGN KEY (`user_id`) REFERENCES `users` (`user_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `identities` WRITE;
/*!40000 ALTER TABLE `identities` DISABLE KEYS */;
/*!40000 ALTER TABLE `identities` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `logo_authors`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `logo_authors` (
  `logo_author_id` int(11) NOT NULL,
  `logo_id` int(11) NOT NULL,
  `author_id` int(11) NOT NULL,
  PRIMARY KEY (`logo_author_id`),
  UNIQUE KEY `uq_logo_authors_logo_id_author_id` (`logo_id`,`author_id`),
  KEY `ix_logo_authors_author_id_logo_id` (`author_id`,`logo_id`),
  CONSTRAINT `fk_logo_authors_author_id` FOREIGN KEY (`author_id`) REFERENCES `authors` (`author_id`) ON DELETE CASCADE,
  CONSTRAINT `fk_logo_authors_logo_id` FOREIGN KEY (`logo_id`) REFERENCES `logos` (`logo_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `logo_authors` WRITE;
/*!40000 ALTER TABLE `logo_authors` DISABLE KEYS */;
INSERT INTO `logo_authors` VALUES
(1,1,1);
/*!40000 ALTER TABLE `logo_authors` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `logo_tags`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `logo_tags` (
  `logo_id` int(11) NOT NULL,
  `tag` varchar(32) NOT NULL,
  PRIMARY KEY (`logo_id`,`tag`),
  KEY `ix_logo_tags_tag_logo_id` (`tag`,`logo_id`),
  CONSTRAINT `fk_logo_tags_logo_id` FOREIGN KEY (`logo_id`) REFERENCES `logos` (`logo_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `logo_tags` WRITE;
/*!40000 ALTER TABLE `logo_tags` DISABLE KEYS */;
INSERT INTO `logo_tags` VALUES
(1,'dark'),
(1,'тёмная');
/*!40000 ALTER TABLE `logo_tags` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `logoadmin_leases`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `logoadmin_leases` (
  `name` varchar(64) NOT NULL,
  `holder` varchar(64) NOT NULL,
  `until` bigint(20) NOT NULL,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `logoadmin_leases` WRITE;
/*!40000 ALTER TABLE `logoadmin_leases` DISABLE KEYS */;
/*!40000 ALTER TABLE `logoadmin_leases` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `logoadmin_version`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `logoadmin_version` (
  `version_num` varchar(32) NOT NULL,
  PRIMARY KEY (`version_num`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `logoadmin_version` WRITE;
/*!40000 ALTER TABLE `logoadmin_version` DISABLE KEYS */;
INSERT INTO `logoadmin_version` VALUES
('x0001');
/*!40000 ALTER TABLE `logoadmin_version` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `logos`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `logos` (
  `logo_id` int(11) NOT NULL,
  `name` varchar(128) NOT NULL,
  `preview_url` varchar(2048) NOT NULL,
  `target` varchar(64) NOT NULL,
  `active` tinyint(1) NOT NULL,
  `origin` varchar(128) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `version` int(11) NOT NULL DEFAULT 0,
  `name_casefold` varchar(384) NOT NULL DEFAULT '',
  `custom_css` mediumtext NOT NULL,
  `details` mediumtext DEFAULT NULL,
  PRIMARY KEY (`logo_id`),
  UNIQUE KEY `uq_logos_origin` (`origin`),
  KEY `ix_logos_target_active` (`target`,`active`),
  KEY `ix_logos_active` (`active`),
  KEY `ix_logos_name_casefold` (`name_casefold`),
  KEY `ix_logos_version` (`version`),
  KEY `ix_logos_target` (`target`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `logos` WRITE;
/*!40000 ALTER TABLE `logos` DISABLE KEYS */;
INSERT INTO `logos` VALUES
(1,'First','https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp','forum',1,'kept-1',1795912940,14,'first','color: #123','{\"description\":\"A kept logo\",\"origin\":\"kept-1\",\"tags\":[\"dark\",\"тёмная\"],\"text\":\"*Kept*\",\"version\":\"3\"}'),
(2,'Second','https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp','forum',0,NULL,1795912940,13,'second','color: #123','{\"licence\":\"CC0-1.0\"}');
/*!40000 ALTER TABLE `logos` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `notices`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `notices` (
  `notice_id` int(11) NOT NULL,
  `receiver` varchar(128) NOT NULL,
  `event` varchar(32) NOT NULL,
  `kind` varchar(16) NOT NULL,
  `id` int(11) NOT NULL,
  `text` varchar(1000) NOT NULL,
  `due_at` bigint(20) NOT NULL,
  `attempts` int(11) NOT NULL,
  PRIMARY KEY (`notice_id`),
  KEY `ix_notices_due_at` (`due_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `notices` WRITE;
/*!40000 ALTER TABLE `notices` DISABLE KEYS */;
/*!40000 ALTER TABLE `notices` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `picture_names`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `picture_names` (
  `kind` varchar(16) NOT NULL,
  `record_id` int(11) NOT NULL,
  `picture` varchar(64) NOT NULL,
  `standing` int(11) NOT NULL,
  PRIMARY KEY (`kind`,`record_id`,`picture`),
  KEY `ix_picture_names_standing_picture` (`standing`,`picture`),
  KEY `ix_picture_names_picture_standing` (`picture`,`standing`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `picture_names` WRITE;
/*!40000 ALTER TABLE `picture_names` DISABLE KEYS */;
INSERT INTO `picture_names` VALUES
('proposal',3,'b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f',0),
('logo',2,'b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f',1),
('logo',1,'b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f',2);
/*!40000 ALTER TABLE `picture_names` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `pictures`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `pictures` (
  `picture` varchar(64) NOT NULL,
  `sent_sha256` varchar(64) DEFAULT NULL,
  `sent_at` bigint(20) NOT NULL,
  `width` int(11) NOT NULL,
  `height` int(11) NOT NULL,
  `frames` int(11) NOT NULL,
  `size` int(11) NOT NULL,
  `stored_bytes` int(11) NOT NULL,
  `named` tinyint(1) NOT NULL,
  `removed` tinyint(1) NOT NULL,
  `content` longblob DEFAULT NULL,
  `thumbnail` longblob DEFAULT NULL,
  `sender_id` int(11) DEFAULT NULL,
  `kept_until` bigint(20) NOT NULL DEFAULT 0,
  `ground` varchar(5) NOT NULL DEFAULT 'light',
  PRIMARY KEY (`picture`),
  KEY `ix_pictures_named_kept_until` (`named`,`kept_until`),
  KEY `ix_pictures_stored_bytes` (`stored_bytes`),
  KEY `ix_pictures_sender_id` (`sender_id`),
  KEY `ix_pictures_sent_sha256` (`sent_sha256`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `pictures` WRITE;
/*!40000 ALTER TABLE `pictures` DISABLE KEYS */;
INSERT INTO `pictures` VALUES
('b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f','eaa4a94ea300e0d2c775968cbe42f0b5b51ceafdeb73d64e9efddf6d4e880865',1795912940,1,1,1,34,78,1,0,0x524946461A000000574542505650384C0E0000002F00000000071011FD0F4444FF03,0x52494646240000005745425056503820180000003001009D012A0100010001001C25A400037000FEFE06D000,NULL,1796517740,'light');
/*!40000 ALTER TABLE `pictures` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `preferences`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `preferences` (
  `user_id` int(11) NOT NULL,
  `value` text NOT NULL,
  PRIMARY KEY (`user_id`),
  CONSTRAINT `fk_preferences_user_id` FOREIGN KEY (`user_id`) REFERENCES `users` (`user_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `preferences` WRITE;
/*!40000 ALTER TABLE `preferences` DISABLE KEYS */;
/*!40000 ALTER TABLE `preferences` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `proposals`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `proposals` (
  `proposal_id` int(11) NOT NULL,
  `version` int(11) NOT NULL,
  `state` varchar(16) NOT NULL,
  `user_id` int(11) DEFAULT NULL,
  `user_since` int(11) NOT NULL DEFAULT 0,
  `title` varchar(200) NOT NULL,
  `note` varchar(2000) NOT NULL,
  `kinds` int(11) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `waiting_since` bigint(20) NOT NULL,
  `reason` varchar(1000) DEFAULT NULL,
  `decided_at` bigint(20) DEFAULT NULL,
  `decided_by` int(11) DEFAULT NULL,
  `request_id` varchar(128) DEFAULT NULL,
  `first_change` int(11) DEFAULT NULL,
  `last_change` int(11) DEFAULT NULL,
  `unapplied_since` bigint(20) DEFAULT NULL,
  `undone_change` int(11) DEFAULT NULL,
  `size` int(11) NOT NULL DEFAULT 0,
  `summary` mediumtext DEFAULT NULL,
  `changes` mediumtext NOT NULL,
  PRIMARY KEY (`proposal_id`),
  KEY `ix_proposals_user_id_decided_at` (`user_id`,`decided_at`),
  KEY `ix_proposals_unapplied_since` (`unapplied_since`),
  KEY `ix_proposals_user_id_state` (`user_id`,`state`),
  KEY `ix_proposals_state` (`state`),
  KEY `ix_proposals_first_change` (`first_change`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `proposals` WRITE;
/*!40000 ALTER TABLE `proposals` DISABLE KEYS */;
INSERT INTO `proposals` VALUES
(1,4,'declined',1042,4,'Proposal 0','',16,1795912940,1795912940,'Not now',1795912940,NULL,NULL,NULL,NULL,1795912940,NULL,444,'{\"counts\":{\"logo\":1},\"names\":[\"First\"],\"pictures\":[\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\"],\"new_hosts\":[],\"risks\":[],\"artworks\":[]}','[{\"kind\":\"logo\",\"id\":1,\"version\":12,\"set\":{\"details\":{\"version\":\"3\"}},\"before\":{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"author_ids\":[1]},\"own\":false}]'),
(2,5,'applied',1042,4,'Proposal 1','',16,1795912940,1795912940,NULL,1795912940,NULL,NULL,14,14,NULL,NULL,444,'{\"counts\":{\"logo\":1},\"names\":[\"First\"],\"pictures\":[\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\"],\"new_hosts\":[],\"risks\":[],\"artworks\":[{\"kind\":\"logo\",\"id\":1}]}','[{\"kind\":\"logo\",\"id\":1,\"version\":12,\"set\":{\"details\":{\"version\":\"3\"}},\"before\":{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"author_ids\":[1]},\"own\":false}]'),
(3,3,'waiting',1042,4,'Proposal 2','',16,1795912940,1795912940,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,444,'{\"counts\":{\"logo\":1},\"names\":[\"First\"],\"pictures\":[\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\"],\"new_hosts\":[],\"risks\":[],\"artworks\":[]}','[{\"kind\":\"logo\",\"id\":1,\"version\":12,\"set\":{\"details\":{\"version\":\"3\"}},\"before\":{\"logo_id\":1,\"name\":\"First\",\"preview_url\":\"https://gallery.example/pictures/b0ff5420a87b7117d944273dafe43684066c6cae95533df2fbada29cf1523a9f.webp\",\"target\":\"forum\",\"custom_css\":\"color: #123\",\"details\":{\"description\":\"A kept logo\",\"text\":\"*Kept*\",\"tags\":[\"dark\",\"тёмная\"],\"origin\":\"kept-1\"},\"active\":true,\"created_at\":1795912940,\"author_ids\":[1]},\"own\":false}]');
/*!40000 ALTER TABLE `proposals` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `recovery_codes`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `recovery_codes` (
  `code_hash` varchar(128) NOT NULL,
  `user_id` int(11) NOT NULL,
  PRIMARY KEY (`code_hash`),
  KEY `ix_recovery_codes_user_id` (`user_id`),
  CONSTRAINT `fk_recovery_codes_user_id` FOREIGN KEY (`user_id`) REFERENCES `users` (`user_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `recovery_codes` WRITE;
/*!40000 ALTER TABLE `recovery_codes` DISABLE KEYS */;
INSERT INTO `recovery_codes` VALUES
('-2AauzUHxEhHLnLLbd9HfcIGyKG4iV7-2RgkPcQN_FM',2000000000),
('4fVms3Xxs3ggtSDSvH6Jc2D2ibNEgXyR1a0_y30ESVo',2000000000),
('AX5dYWFjBHW3deklIj4nb9I5dVFaT8DgN8d1wwSyqmo',2000000000),
('Bg5Hb3l__bLx3VeNxL6ktIP6PZHq-Rc3xbTXK2E87Iw',2000000000),
('Onw7GTRJceKnTVo9fqr-tGhpxvVYSqZKHGq3d4j-W_0',2000000000),
('aJUr8uPnGwwFF6ns9eVN5Oye_1N2t65H78rpOx5eb8M',2000000000),
('caAGLKt63tUgmDQI7Zmeh8EBHoyKN6mr1-2yhqX80yE',2000000000),
('djuOFRCVt-wtKkZEtpKoFnOVql0HcZk8l4UyK7gI754',2000000000),
('rP7LsVBke6xg_fA3ZZHIGqiwOWNjcz8yK21QF4zgPRg',2000000000),
('wp2YEOqUmbZKvUimucy-VnON2v5v9hkRMmCFsYUWwDg',2000000000);
/*!40000 ALTER TABLE `recovery_codes` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `refresh_tokens`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `refresh_tokens` (
  `token_hash` varchar(128) NOT NULL,
  `session_id` varchar(128) NOT NULL,
  `used_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`token_hash`),
  KEY `ix_refresh_tokens_session_id` (`session_id`),
  CONSTRAINT `fk_refresh_tokens_session_id` FOREIGN KEY (`session_id`) REFERENCES `sessions` (`session_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `refresh_tokens` WRITE;
/*!40000 ALTER TABLE `refresh_tokens` DISABLE KEYS */;
INSERT INTO `refresh_tokens` VALUES
('gyLUaR1KyK8lRmCaMkBN6394odCWBPxODY3DOLRKZxM','hbtFMKTfw1XzdU9_w8_P1EdhNHUT2efIVT-0BuOT22k',NULL);
/*!40000 ALTER TABLE `refresh_tokens` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `roles`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `roles` (
  `role_id` int(11) NOT NULL,
  `name` varchar(64) NOT NULL,
  `scope` varchar(4160) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `version` int(11) NOT NULL DEFAULT 0,
  `name_casefold` varchar(192) NOT NULL DEFAULT '',
  PRIMARY KEY (`role_id`),
  UNIQUE KEY `uq_roles_name` (`name`),
  KEY `ix_roles_name_casefold` (`name_casefold`),
  KEY `ix_roles_version` (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `roles` WRITE;
/*!40000 ALTER TABLE `roles` DISABLE KEYS */;
INSERT INTO `roles` VALUES
(1,'member','proposals:write',1795912940,1,'member'),
(2,'admin','*',1795912940,2,'admin');
/*!40000 ALTER TABLE `roles` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `secrets`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `secrets` (
  `name` varchar(64) NOT NULL,
  `value` text NOT NULL,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `secrets` WRITE;
/*!40000 ALTER TABLE `secrets` DISABLE KEYS */;
INSERT INTO `secrets` VALUES
('factor_key','nB6OxUMTg5FLCIcQPVxSt5GTSBdt_pKIR03jdLBvrz4'),
('token_key','IcmHcsj3qBbaQwccw-GOCCAlM_-vwXjdB82r3uM8g2s'),
('token_key_next','HHQhwC04XASblxL9xtR79ZHjvYsUhz7-y3WxEFWxIu8');
/*!40000 ALTER TABLE `secrets` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `seen_notices`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `seen_notices` (
  `user_id` int(11) NOT NULL,
  `at` bigint(20) NOT NULL,
  `of_that_second` text NOT NULL,
  PRIMARY KEY (`user_id`),
  CONSTRAINT `fk_seen_notices_user_id` FOREIGN KEY (`user_id`) REFERENCES `users` (`user_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `seen_notices` WRITE;
/*!40000 ALTER TABLE `seen_notices` DISABLE KEYS */;
/*!40000 ALTER TABLE `seen_notices` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `service_keys`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `service_keys` (
  `key_id` int(11) NOT NULL,
  `user_id` int(11) NOT NULL,
  `name` varchar(64) NOT NULL,
  `scope` varchar(4160) NOT NULL,
  `key_hash` varchar(128) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `expires_at` bigint(20) DEFAULT NULL,
  `last_used_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`key_id`),
  UNIQUE KEY `uq_service_keys_key_hash` (`key_hash`),
  KEY `ix_service_keys_user_id` (`user_id`),
  CONSTRAINT `fk_service_keys_user_id` FOREIGN KEY (`user_id`) REFERENCES `users` (`user_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `service_keys` WRITE;
/*!40000 ALTER TABLE `service_keys` DISABLE KEYS */;
INSERT INTO `service_keys` VALUES
(1,2000000000,'script','*','8Zksw9pY0_EUk7Upy-ZtrT_9xRXApvNGZvhECI7yNko',1795912940,NULL,NULL);
/*!40000 ALTER TABLE `service_keys` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `sessions`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `sessions` (
  `session_id` varchar(128) NOT NULL,
  `user_id` int(11) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  `refreshed_at` bigint(20) DEFAULT NULL,
  `address` varchar(64) DEFAULT NULL,
  `user_agent` varchar(256) DEFAULT NULL,
  `factor` varchar(16) NOT NULL DEFAULT 'password',
  PRIMARY KEY (`session_id`),
  KEY `ix_sessions_user_id` (`user_id`),
  KEY `ix_sessions_expires_at` (`expires_at`),
  CONSTRAINT `fk_sessions_user_id` FOREIGN KEY (`user_id`) REFERENCES `users` (`user_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `sessions` WRITE;
/*!40000 ALTER TABLE `sessions` DISABLE KEYS */;
INSERT INTO `sessions` VALUES
('hbtFMKTfw1XzdU9_w8_P1EdhNHUT2efIVT-0BuOT22k',2000000000,1795912940,1798504940,NULL,NULL,NULL,'totp');
/*!40000 ALTER TABLE `sessions` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `sign_in_attempts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `sign_in_attempts` (
  `counted` varchar(128) NOT NULL,
  `attempts` int(11) NOT NULL,
  `ends_at` bigint(20) NOT NULL,
  PRIMARY KEY (`counted`),
  KEY `ix_sign_in_attempts_ends_at` (`ends_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `sign_in_attempts` WRITE;
/*!40000 ALTER TABLE `sign_in_attempts` DISABLE KEYS */;
INSERT INTO `sign_in_attempts` VALUES
('2b777a9ab90f149d38a225551a5a9c1fa60e225aa36428f13a7317331a74be18',0,1795913240),
('50eeeae78b1e8d39586dfa6ce14876526db50279aaaff615de5ad8f29cd54fca',0,1795916540),
('6f49cdbd80e1b95d5e6427e1501fc217790daee87055fa5b4e71064288bddede',0,1795913240),
('bf8b779ede287ebccddd01d59b4c4af290c3a2cd90c370435085e935d01f23d2',1,1811464940),
('d00c242f070bb37abd82e2849798ddab8802825a969b3ddce6552e6b6c9e6496',1,1811464940);
/*!40000 ALTER TABLE `sign_in_attempts` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `state`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `state` (
  `state_id` int(11) NOT NULL,
  `change_id` int(11) NOT NULL DEFAULT 0,
  `role_id` int(11) NOT NULL DEFAULT 0,
  `author_id` int(11) NOT NULL DEFAULT 0,
  `theme_id` int(11) NOT NULL DEFAULT 0,
  `logo_id` int(11) NOT NULL DEFAULT 0,
  `theme_author_id` int(11) NOT NULL DEFAULT 0,
  `logo_author_id` int(11) NOT NULL DEFAULT 0,
  `role_version` int(11) NOT NULL DEFAULT 0,
  `user_version` int(11) NOT NULL DEFAULT 0,
  `author_version` int(11) NOT NULL DEFAULT 0,
  `theme_version` int(11) NOT NULL DEFAULT 0,
  `logo_version` int(11) NOT NULL DEFAULT 0,
  `settings_version` int(11) NOT NULL DEFAULT 0,
  `picture_version` int(11) NOT NULL DEFAULT 0,
  `proposal_id` int(11) NOT NULL DEFAULT 0,
  `proposal_version` int(11) NOT NULL DEFAULT 0,
  `notice_id` int(11) NOT NULL DEFAULT 0,
  `key_id` int(11) NOT NULL DEFAULT 0,
  `factor_id` int(11) NOT NULL DEFAULT 0,
  `event_id` int(11) NOT NULL DEFAULT 0,
  `writes` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`state_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `state` WRITE;
/*!40000 ALTER TABLE `state` DISABLE KEYS */;
INSERT INTO `state` VALUES
(1,14,2,1,1,2,0,1,2,4,6,9,14,5,0,3,5,0,1,2,5,23);
/*!40000 ALTER TABLE `state` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `stored_responses`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `stored_responses` (
  `key_hash` varchar(128) NOT NULL,
  `response` mediumtext NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  PRIMARY KEY (`key_hash`),
  KEY `ix_stored_responses_expires_at` (`expires_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `stored_responses` WRITE;
/*!40000 ALTER TABLE `stored_responses` DISABLE KEYS */;
/*!40000 ALTER TABLE `stored_responses` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `theme_authors`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `theme_authors` (
  `theme_author_id` int(11) NOT NULL,
  `theme_id` int(11) NOT NULL,
  `author_id` int(11) NOT NULL,
  PRIMARY KEY (`theme_author_id`),
  UNIQUE KEY `uq_theme_authors_theme_id_author_id` (`theme_id`,`author_id`),
  KEY `ix_theme_authors_author_id_theme_id` (`author_id`,`theme_id`),
  CONSTRAINT `fk_theme_authors_author_id` FOREIGN KEY (`author_id`) REFERENCES `authors` (`author_id`) ON DELETE CASCADE,
  CONSTRAINT `fk_theme_authors_theme_id` FOREIGN KEY (`theme_id`) REFERENCES `themes` (`theme_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `theme_authors` WRITE;
/*!40000 ALTER TABLE `theme_authors` DISABLE KEYS */;
/*!40000 ALTER TABLE `theme_authors` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `theme_tags`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `theme_tags` (
  `theme_id` int(11) NOT NULL,
  `tag` varchar(32) NOT NULL,
  PRIMARY KEY (`theme_id`,`tag`),
  KEY `ix_theme_tags_tag_theme_id` (`tag`,`theme_id`),
  CONSTRAINT `fk_theme_tags_theme_id` FOREIGN KEY (`theme_id`) REFERENCES `themes` (`theme_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `theme_tags` WRITE;
/*!40000 ALTER TABLE `theme_tags` DISABLE KEYS */;
/*!40000 ALTER TABLE `theme_tags` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `themes`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `themes` (
  `theme_id` int(11) NOT NULL,
  `name` varchar(128) NOT NULL,
  `preview_url` varchar(2048) NOT NULL,
  `target` varchar(64) NOT NULL,
  `active` tinyint(1) NOT NULL,
  `origin` varchar(128) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `version` int(11) NOT NULL DEFAULT 0,
  `name_casefold` varchar(384) NOT NULL DEFAULT '',
  `custom_css` mediumtext NOT NULL,
  `details` mediumtext DEFAULT NULL,
  PRIMARY KEY (`theme_id`),
  UNIQUE KEY `uq_themes_origin` (`origin`),
  KEY `ix_themes_target` (`target`),
  KEY `ix_themes_version` (`version`),
  KEY `ix_themes_name_casefold` (`name_casefold`),
  KEY `ix_themes_active` (`active`),
  KEY `ix_themes_target_active` (`target`,`active`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `themes` WRITE;
/*!40000 ALTER TABLE `themes` DISABLE KEYS */;
INSERT INTO `themes` VALUES
(1,'Aurora','https://example.org/aurora.png','forum',1,NULL,1795912940,9,'aurora','color: #123',NULL);
/*!40000 ALTER TABLE `themes` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `users`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `users` (
  `user_id` int(11) NOT NULL,
  `username` varchar(64) NOT NULL,
  `avatar` varchar(4096) DEFAULT NULL,
  `role_id` int(11) NOT NULL,
  `password` varchar(255) DEFAULT NULL,
  `active` tinyint(1) NOT NULL DEFAULT 1,
  `created_at` bigint(20) NOT NULL,
  `version` int(11) NOT NULL DEFAULT 0,
  `name_casefold` varchar(192) NOT NULL DEFAULT '',
  PRIMARY KEY (`user_id`),
  UNIQUE KEY `uq_users_username` (`username`),
  KEY `ix_users_name_casefold` (`name_casefold`),
  KEY `ix_users_version` (`version`),
  KEY `ix_users_role_id` (`role_id`),
  CONSTRAINT `fk_users_role_id` FOREIGN KEY (`role_id`) REFERENCES `roles` (`role_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `users` WRITE;
/*!40000 ALTER TABLE `users` DISABLE KEYS */;
INSERT INTO `users` VALUES
(1042,'Mia',NULL,2,'$argon2id$v=19$m=8,t=1,p=1$omdunfel+8Y7jPxfWcO/eA$7LC/l6t8T0X8ZptQfVpyXP84rDoLxOFHi5pvSRUYyT4',1,1795912940,4,'mia'),
(2000000000,'admin',NULL,2,'$argon2id$v=19$m=8,t=1,p=1$3EUlNG7XWeMVu4Ev6cCGMA$ZCzgzq9fas0z/3tiY7BX5vm1199G5rXNOi+RmC5EL08',1,1795912940,3,'admin');
/*!40000 ALTER TABLE `users` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `withdrawals`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `withdrawals` (
  `kind` varchar(16) NOT NULL,
  `record_id` int(11) NOT NULL,
  `at` bigint(20) NOT NULL,
  `reason` varchar(200) DEFAULT NULL,
  PRIMARY KEY (`kind`,`record_id`),
  KEY `ix_withdrawals_at` (`at`),
  KEY `ix_withdrawals_reason` (`reason`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `withdrawals` WRITE;
/*!40000 ALTER TABLE `withdrawals` DISABLE KEYS */;
INSERT INTO `withdrawals` VALUES
('logo',2,1795912940,'It covers the sign-in form');
/*!40000 ALTER TABLE `withdrawals` ENABLE KEYS */;
UNLOCK TABLES;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

